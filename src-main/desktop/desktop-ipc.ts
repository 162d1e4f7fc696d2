import type { WebContents } from 'electron'
import { isAbsolute } from 'node:path'
import {
  desktopChannels,
  type DesktopChange,
  type DesktopState,
  type PagePreferences,
  type UpdateStep,
} from '../../src-shared/contract/desktop.ts'
import { isFolder } from './is-folder.ts'
import { pageMessages } from './page-messages.ts'
import type { PageRequests } from './page-requests.ts'
import { openTrustedIpc } from './trusted-ipc.ts'

/** Desktop behaviour that the page can read and change. */
export interface DesktopIpcHandlers {
  readonly requests: PageRequests
  state(): DesktopState
  change(change: DesktopChange): void
  update(step: UpdateStep): Promise<void>
  preferences(preferences: PagePreferences): void
}

export interface DesktopIpc extends Disposable {
  /** Pushes the changed state to the page. */
  tell(): void
}

/** Connects the page with the desktop, in both directions. */
export function registerDesktopIpc(handlers: DesktopIpcHandlers): DesktopIpc {
  const ipc = openTrustedIpc()
  let listener: WebContents | null = null
  const tell = () => listener?.send(desktopChannels.state, handlers.state())

  const watched = new WeakSet<WebContents>()
  const watch = (sender: WebContents) => {
    if (watched.has(sender)) return
    watched.add(sender)
    const leave = () => {
      if (listener !== sender) return
      listener = null
      handlers.requests.detach()
    }
    sender.once('destroyed', leave)
    sender.on('did-start-navigation', (details) => {
      if (details.isMainFrame && !details.isSameDocument) leave()
    })
  }

  ipc.handle(desktopChannels.listen, ({ sender }) => {
    watch(sender)
    listener = sender
    tell()
    handlers.requests.attach((request) => sender.send(desktopChannels.request, request))
    return null
  })
  ipc.handle(desktopChannels.change, (_event, change) => {
    handlers.change(pageMessages.change(change))
    tell()
    return null
  })
  ipc.handle(desktopChannels.update, async (_event, step) => {
    await handlers.update(pageMessages.step(step))
    return null
  })
  ipc.on(desktopChannels.preferences, (_event, preferences) =>
    handlers.preferences(pageMessages.preferences(preferences)),
  )
  ipc.on(desktopChannels.dropped, (_event, path) => {
    if (typeof path === 'string') void dropped(handlers.requests, path)
  })
  return { tell, [Symbol.dispose]: () => ipc[Symbol.dispose]() }
}

async function dropped(requests: PageRequests, path: string): Promise<void> {
  const folder = isAbsolute(path) && (await isFolder(path))
  if (folder) requests.ask({ kind: 'add_folder', path })
  else requests.ask({ kind: 'refused', message: 'Drop a folder that is a git repository.' })
}
