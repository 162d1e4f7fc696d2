import type { WebContents } from 'electron'
import { isAbsolute } from 'node:path'
import type { CallContext } from '../api/api.ts'
import {
  desktopChannels,
  type FolderTool,
  type NoticeResponse,
  type ReplyError,
  type SystemNotice,
} from '../../src-shared/contract/desktop.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { streams, type StreamName } from '../../src-shared/contract/operations.ts'
import type { Workspace } from '../../src-shared/contract/workspaces.ts'
import { answerCall, callContext, known, replyError, type CallHandlers } from './answer-call.ts'
import { createSubscriptions, type OpenStream } from './subscriptions.ts'
import { openTrustedIpc } from './trusted-ipc.ts'

/** Dependencies of the window's IPC on the app and the desktop. */
export interface WindowIpcHandlers extends CallHandlers {
  pickFolder(contents: WebContents): Promise<string | null>
  showFolder(path: string): void
  folderTools(): Promise<readonly FolderTool[]>
  openFolder(tool: string, path: string): Promise<boolean>
  /** Refuses a path that leads out of the worktree. */
  openFile(tool: string, worktree: string, path: string, line: number): Promise<boolean>
  /** Shows a notification. A click is told after the window has come forward. */
  notify(notice: SystemNotice, onResponse: (response: NoticeResponse) => void): void
  setBadge(count: number): void
}

/** Answers the window's calls and streams until it is disposed, which ends every open one. */
export function registerWindowIpc(handlers: WindowIpcHandlers): Disposable {
  const closing = new AbortController()
  const toError = (error: unknown): ReplyError => replyError(error, handlers)
  const subscriptions = createSubscriptions(toError)
  const ipc = openTrustedIpc()
  const { handle, on } = ipc

  handle(desktopChannels.call, (_event, name, input) => answerCall(handlers, name, input, closing.signal))
  handle(desktopChannels.subscribe, (event, id, stream, input, after) => {
    const open: OpenStream = (signal) => streamOf(handlers, known(streams, stream), input, after, signal)
    subscriptions.add(event.sender, String(id), open)
    return null
  })
  handle(desktopChannels.pickFolder, (event) => handlers.pickFolder(event.sender))
  handle(desktopChannels.showFolder, (_event, path) => {
    if (typeof path === 'string' && isAbsolute(path)) handlers.showFolder(path)
    return null
  })
  handle(desktopChannels.folderTools, () => handlers.folderTools())
  handle(desktopChannels.openFolder, async (_event, tool, path) =>
    typeof path === 'string' && isAbsolute(path) ? await handlers.openFolder(String(tool), path) : false,
  )
  handle(desktopChannels.openFile, (_event, tool, taskId, path, line) =>
    openFile(handlers, callContext(handlers, closing.signal), String(tool), taskId, String(path), Number(line)),
  )
  handle(desktopChannels.notify, (event, id, notice) => {
    const { sender } = event
    handlers.notify(noticeOf(notice), (response) => {
      if (!sender.isDestroyed()) sender.send(desktopChannels.noticeAnswered, id, response)
    })
    return null
  })
  handle(desktopChannels.badge, (_event, count) => {
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) handlers.setBadge(count)
    return null
  })
  on(desktopChannels.unsubscribe, (event, id) => subscriptions.end(event.sender, String(id)))

  return {
    [Symbol.dispose]: () => {
      closing.abort()
      subscriptions[Symbol.dispose]()
      ipc[Symbol.dispose]()
    },
  }
}

/** Opens a file of a task. The page names only the task, and the service knows its worktree. */
async function openFile(
  handlers: WindowIpcHandlers,
  asker: CallContext,
  tool: string,
  taskId: unknown,
  path: string,
  line: number,
): Promise<boolean> {
  if (!Number.isSafeInteger(line) || line < 1) return false
  try {
    const worktree = (await handlers.api.call('tasks.workspace', { task_id: taskId }, asker)) as Workspace
    return await handlers.openFile(tool, worktree.path, path, line)
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

function noticeOf(value: unknown): SystemNotice {
  const { tag, title, body, actions, reply } = (value ?? {}) as Partial<Record<keyof SystemNotice, unknown>>
  return {
    tag: String(tag),
    title: String(title).slice(0, 500),
    body: String(body).slice(0, 500),
    ...(Array.isArray(actions) && { actions: actions.slice(0, 9).map((label) => String(label).slice(0, 100)) }),
    ...(typeof reply === 'string' && { reply: reply.slice(0, 100) }),
  }
}

function streamOf(
  handlers: WindowIpcHandlers,
  name: StreamName,
  input: unknown,
  after: unknown,
  signal: AbortSignal,
): ReturnType<OpenStream> {
  const last = typeof after === 'number' && Number.isSafeInteger(after) ? after : null
  if (name === 'events.stream') return handlers.api.events(input, last, callContext(handlers, signal))
  return handlers.api.transcript(input, last === null ? 0 : last + 1, callContext(handlers, signal))
}
