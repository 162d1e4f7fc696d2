import type { FeedItem, TranscriptItem } from './events.ts'
import type { ErrorBody } from './errors.ts'
import type { OperationName, StreamName } from './operations.ts'

/** The channels between the window and the main process. Everything that crosses is plain JSON. */
export const desktopChannels = {
  /** invoke (name, input) → `CallReply` */
  call: 'copse:call',
  /** invoke (id, stream, input, after) → null once the stream is open; items then arrive on `item` */
  subscribe: 'copse:subscribe',
  /** send (id) */
  unsubscribe: 'copse:unsubscribe',
  /** pushed (id, StreamReply) */
  item: 'copse:item',
  /** invoke () → path or null */
  pickFolder: 'copse:pick-folder',
  /** invoke (path) → null: shows it in the file manager */
  showFolder: 'copse:show-folder',
  /** invoke () → `FolderTool[]` */
  folderTools: 'copse:folder-tools',
  /** invoke (tool id, path) → whether it was opened there */
  openFolder: 'copse:open-folder',
  /** invoke (id, `SystemNotice`) → null: the system shows it */
  notify: 'copse:notify',
  /** pushed (id): the person has clicked it, and the window is in front */
  noticeClicked: 'copse:notice-clicked',
  /** invoke (count) → null: the number on the app's icon */
  badge: 'copse:badge',
} as const

export type ReplyError = ErrorBody['error']
export type CallReply =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ReplyError }
export type StreamReply =
  | { readonly kind: 'item'; readonly item: FeedItem | TranscriptItem }
  | { readonly kind: 'failed'; readonly error: ReplyError }
  | { readonly kind: 'end' }

/** A program on this machine in which a folder can be opened: an editor or a terminal. */
export interface FolderTool {
  readonly id: string
  readonly name: string
}

/** What the system shows of a notification. One with the `tag` of an earlier one takes its place. */
export interface SystemNotice {
  readonly tag: string
  readonly title: string
  readonly body: string
}

/** What the preload puts on `window.copse`. */
export interface DesktopBridge {
  readonly platform: string
  call(name: OperationName, input: unknown): Promise<CallReply>
  /** Returns the function that ends the subscription. `after`: the last number seen, or null. */
  subscribe(stream: StreamName, input: unknown, after: number | null, onReply: (reply: StreamReply) => void): () => void
  pickFolder(): Promise<string | null>
  showFolder(path: string): Promise<void>
  folderTools(): Promise<readonly FolderTool[]>
  /** Whether the folder was opened. */
  openFolder(tool: string, path: string): Promise<boolean>
  /** Asks the system to show it; a click brings the window forward and calls `onClick`. */
  notify(notice: SystemNotice, onClick: () => void): void
  /** 0 takes the number away. */
  setBadge(count: number): void
}
