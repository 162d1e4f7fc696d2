import { contextBridge, ipcRenderer, webUtils, type IpcRendererEvent } from 'electron'
import {
  desktopChannels,
  type DesktopBridge,
  type DesktopRequest,
  type DesktopState,
  type FolderTool,
  type NoticeResponse,
  type StreamReply,
} from '../src-shared/contract/desktop.ts'

const listeners = new Map<string, (reply: StreamReply) => void>()

ipcRenderer.on(desktopChannels.item, (_event: IpcRendererEvent, id: string, reply: StreamReply) => {
  listeners.get(id)?.(reply)
  if (reply.kind !== 'item') listeners.delete(id)
})

/** Handlers by notification ID; only the newest 100 are kept. */
const notices = new Map<string, (response: NoticeResponse) => void>()
ipcRenderer.on(desktopChannels.noticeAnswered, (_event: IpcRendererEvent, id: string, response: NoticeResponse) =>
  notices.get(id)?.(response),
)

const bridge: DesktopBridge = {
  platform: process.platform,
  call: (name, input) => ipcRenderer.invoke(desktopChannels.call, name, input) as ReturnType<DesktopBridge['call']>,
  subscribe: (stream, input, after, onReply) => {
    // Unique across reloads, so that pushes for the previous page can't reach this one.
    const id = crypto.randomUUID()
    listeners.set(id, onReply)
    ipcRenderer.invoke(desktopChannels.subscribe, id, stream, input, after).catch((cause: unknown) => {
      listeners.delete(id)
      onReply({ kind: 'failed', error: { code: 'internal_error', message: String(cause) } })
    })
    return () => {
      if (listeners.delete(id)) ipcRenderer.send(desktopChannels.unsubscribe, id)
    }
  },
  pickFolder: () => ipcRenderer.invoke(desktopChannels.pickFolder) as Promise<string | null>,
  showFolder: async (path) => {
    await ipcRenderer.invoke(desktopChannels.showFolder, path)
  },
  folderTools: () => ipcRenderer.invoke(desktopChannels.folderTools) as Promise<readonly FolderTool[]>,
  notify: (notice, onResponse) => {
    const id = crypto.randomUUID()
    notices.set(id, onResponse)
    const [oldest] = notices.keys()
    if (notices.size > 100 && oldest !== undefined) notices.delete(oldest)
    void ipcRenderer.invoke(desktopChannels.notify, id, notice)
  },
  setBadge: (count) => void ipcRenderer.invoke(desktopChannels.badge, count),
  openFolder: (tool, path) => ipcRenderer.invoke(desktopChannels.openFolder, tool, path) as Promise<boolean>,
  openFile: (...where) => ipcRenderer.invoke(desktopChannels.openFile, ...where) as Promise<boolean>,
  listen: (onState, onRequest) => {
    ipcRenderer.on(desktopChannels.state, (_event: IpcRendererEvent, state: DesktopState) => onState(state))
    ipcRenderer.on(desktopChannels.request, (_event: IpcRendererEvent, request: DesktopRequest) => onRequest(request))
    void ipcRenderer.invoke(desktopChannels.listen)
  },
  change: async (change) => {
    await ipcRenderer.invoke(desktopChannels.change, change)
  },
  update: async (step) => {
    await ipcRenderer.invoke(desktopChannels.update, step)
  },
  setPreferences: (preferences) => ipcRenderer.send(desktopChannels.preferences, preferences),
}

// Handled here because the page must not see paths. A drop that a part of the page handled is left alone.
window.addEventListener('drop', (event) => {
  const [file] = event.dataTransfer?.files ?? []
  if (file === undefined || event.defaultPrevented || !event.isTrusted) return
  event.preventDefault()
  ipcRenderer.send(desktopChannels.dropped, webUtils.getPathForFile(file))
})

contextBridge.exposeInMainWorld('copse', bridge)
