import type { WebContents } from 'electron'
import { isAbsolute } from 'node:path'
import type { CallContext } from '../api/api.ts'
import {
  desktopChannels,
  type FolderTool,
  type ReplyError,
  type SystemNotice,
} from '../../src-shared/contract/desktop.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { streams, type StreamName } from '../../src-shared/contract/operations.ts'
import type { Workspace } from '../../src-shared/contract/workspaces.ts'
import { answerCall, callContext, known, replyError, type CallDoor } from './answer-call.ts'
import { createSubscriptions, type OpenStream } from './subscriptions.ts'
import { openTrustedIpc } from './trusted-ipc.ts'

/** What the window's door needs of the app and the desktop. */
export interface WindowDoor extends CallDoor {
  pickFolder(contents: WebContents): Promise<string | null>
  showFolder(path: string): void
  folderTools(): Promise<readonly FolderTool[]>
  openFolder(tool: string, path: string): Promise<boolean>
  /** A path that leads out of the worktree opens nothing. */
  openFile(tool: string, worktree: string, path: string, line: number): Promise<boolean>
  /** `onClick` after the window has come forward. */
  notify(notice: SystemNotice, onClick: () => void): void
  setBadge(count: number): void
}

/** Answers the window's calls and streams until it is disposed, which ends every open one. */
export function openWindowDoor(door: WindowDoor): Disposable {
  const closing = new AbortController()
  const toError = (error: unknown): ReplyError => replyError(error, door)
  const subscriptions = createSubscriptions(toError)
  const ipc = openTrustedIpc()
  const { handle, on } = ipc

  handle(desktopChannels.call, (_event, name, input) => answerCall(door, name, input, closing.signal))
  handle(desktopChannels.subscribe, (event, id, stream, input, after) => {
    const open: OpenStream = (signal) => streamOf(door, known(streams, stream), input, after, signal)
    subscriptions.add(event.sender, String(id), open)
    return null
  })
  handle(desktopChannels.pickFolder, (event) => door.pickFolder(event.sender))
  handle(desktopChannels.showFolder, (_event, path) => {
    if (typeof path === 'string' && isAbsolute(path)) door.showFolder(path)
    return null
  })
  handle(desktopChannels.folderTools, () => door.folderTools())
  handle(desktopChannels.openFolder, async (_event, tool, path) =>
    typeof path === 'string' && isAbsolute(path) ? await door.openFolder(String(tool), path) : false,
  )
  handle(desktopChannels.openFile, (_event, tool, taskId, path, line) =>
    openFile(door, callContext(door, closing.signal), String(tool), taskId, String(path), Number(line)),
  )
  handle(desktopChannels.notify, (event, id, notice) => {
    const { sender } = event
    door.notify(noticeOf(notice), () => {
      if (!sender.isDestroyed()) sender.send(desktopChannels.noticeClicked, id)
    })
    return null
  })
  handle(desktopChannels.badge, (_event, count) => {
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) door.setBadge(count)
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

/** The page names a task, not a folder: where its worktree lies, the service knows. */
async function openFile(
  door: WindowDoor,
  asker: CallContext,
  tool: string,
  taskId: unknown,
  path: string,
  line: number,
): Promise<boolean> {
  if (!Number.isSafeInteger(line) || line < 1) return false
  try {
    const worktree = (await door.api.call('tasks.workspace', { task_id: taskId }, asker)) as Workspace
    return await door.openFile(tool, worktree.path, path, line)
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

function noticeOf(value: unknown): SystemNotice {
  const { tag, title, body } = (value ?? {}) as Partial<Record<keyof SystemNotice, unknown>>
  return { tag: String(tag), title: String(title).slice(0, 500), body: String(body).slice(0, 500) }
}

function streamOf(
  door: WindowDoor,
  name: StreamName,
  input: unknown,
  after: unknown,
  signal: AbortSignal,
): ReturnType<OpenStream> {
  const last = typeof after === 'number' && Number.isSafeInteger(after) ? after : null
  if (name === 'events.stream') return door.api.events(input, last, callContext(door, signal))
  return door.api.transcript(input, last === null ? 0 : last + 1, callContext(door, signal))
}
