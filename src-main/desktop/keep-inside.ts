import type { WebContents } from 'electron'
import { isAppUrl } from './trusted-sender.ts'

/** A window's page, as far as its navigation is guarded. */
export type GuardedPage = Pick<WebContents, 'on' | 'setWindowOpenHandler'>

/** Keeps a window and its frames on the app. Links of the page that lead elsewhere go to `openLink`. */
export function keepInside(contents: GuardedPage, openLink: (address: string) => void): void {
  contents.setWindowOpenHandler(({ url }) => {
    openLink(url)
    return { action: 'deny' }
  })
  contents.on('will-navigate', (details) => {
    if (isAppUrl(details.url)) return
    details.preventDefault()
    openLink(details.url)
  })
  contents.on('will-frame-navigate', (details) => {
    // Electron reports the main frame's navigation as `will-navigate` too, which opens the link.
    if (!details.isMainFrame && !isAppUrl(details.url)) details.preventDefault()
  })
  // A redirect is no link that the user chose, so it opens nothing.
  contents.on('will-redirect', (details) => {
    if (!isAppUrl(details.url)) details.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
}
