import type { WebContents } from 'electron'
import { isAbsolute } from 'node:path'
import type { Principal } from '../domain/access/principal.ts'
import type { Api, CallContext } from '../api/api.ts'
import {
  desktopChannels,
  type CallReply,
  type FolderTool,
  type ReplyError,
  type SystemNotice,
} from '../../src-shared/contract/desktop.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { operations, streams, type OperationName, type StreamName } from '../../src-shared/contract/operations.ts'
import { createSubscriptions, type OpenStream } from './subscriptions.ts'
import { openTrustedIpc } from './trusted-ipc.ts'

/** What the window's door needs of the app and the desktop. */
export interface WindowDoor {
  readonly api: Api
  /** Whoever sits at this machine, asked anew for every call: registering changes it. */
  localPrincipal(): Principal
  pickFolder(contents: WebContents): Promise<string | null>
  showFolder(path: string): void
  folderTools(): Promise<readonly FolderTool[]>
  openFolder(tool: string, path: string): Promise<boolean>
  /** `onClick` after the window has come forward. */
  notify(notice: SystemNotice, onClick: () => void): void
  setBadge(count: number): void
  /** Told of errors that are no refusal; the page hears only that something went wrong. */
  onBug(error: unknown): void
}

/** Answers the window's calls and streams until it is disposed, which ends every open one. */
export function openWindowDoor(door: WindowDoor): Disposable {
  const closing = new AbortController()
  const toError = (error: unknown): ReplyError => replyError(error, door)
  const subscriptions = createSubscriptions(toError)
  const ipc = openTrustedIpc()
  const { handle, hear } = ipc

  handle(desktopChannels.call, async (_event, name, input): Promise<CallReply> => {
    try {
      return { ok: true, value: await door.api.call(known(operations, name), input, context(door, closing.signal)) }
    } catch (error) {
      return { ok: false, error: toError(error) }
    }
  })
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
  hear(desktopChannels.unsubscribe, (event, id) => subscriptions.end(event.sender, String(id)))

  return {
    [Symbol.dispose]: () => {
      closing.abort()
      subscriptions[Symbol.dispose]()
      ipc[Symbol.dispose]()
    },
  }
}

function noticeOf(value: unknown): SystemNotice {
  const { tag, title, body } = (value ?? {}) as Partial<Record<keyof SystemNotice, unknown>>
  return { tag: String(tag), title: String(title).slice(0, 500), body: String(body).slice(0, 500) }
}

function context(door: WindowDoor, signal: AbortSignal): CallContext {
  return { principal: door.localPrincipal(), signal, remote_address: null }
}

function streamOf(
  door: WindowDoor,
  name: StreamName,
  input: unknown,
  after: unknown,
  signal: AbortSignal,
): ReturnType<OpenStream> {
  const last = typeof after === 'number' && Number.isSafeInteger(after) ? after : null
  if (name === 'events.stream') return door.api.events(input, last, context(door, signal))
  return door.api.transcript(input, last === null ? 0 : last + 1, context(door, signal))
}

function known<N extends OperationName | StreamName>(table: Readonly<Record<N, unknown>>, name: unknown): N {
  if (typeof name === 'string' && Object.hasOwn(table, name)) return name as N
  throw new ApiError({ code: 'not_found', message: `There is no operation ${JSON.stringify(name)}.` })
}

function replyError(error: unknown, door: WindowDoor): ReplyError {
  if (error instanceof ApiError) return error.toBody().error
  door.onBug(error)
  return { code: 'internal_error', message: 'Something went wrong inside Copse; its log says what.' }
}
