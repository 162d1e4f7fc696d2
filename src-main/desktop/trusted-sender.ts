import type { WebContents, WebFrameMain } from 'electron'
import { appOrigin } from './app-origin.ts'

/** An IPC event's sender. */
export interface Sender {
  readonly sender: Pick<WebContents, 'mainFrame'>
  readonly senderFrame: Pick<WebFrameMain, 'url'> | null
}

/** Returns whether the sender is the app's own page in a window's main frame, not a subframe or another page. */
export function isTrustedSender({ sender, senderFrame }: Sender): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isAppUrl(senderFrame.url)
}

/** Returns whether an address is the app's own page. */
export function isAppUrl(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && url.protocol === `${appOrigin.scheme}:` && url.host === appOrigin.host
}
