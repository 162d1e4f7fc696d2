import type { FeedItem, TranscriptItem } from './events.ts'
import type { ErrorBody } from './errors.ts'
import type { OperationName, StreamName } from './operations.ts'

/** The IPC channels between the window and the main process. All data on them is plain JSON. */
export const desktopChannels = {
  /** invoke (name, input) → `CallReply` */
  call: 'copse:call',
  /** invoke (id, stream, input, after) → null once the stream is open; items then arrive on `item` */
  subscribe: 'copse:subscribe',
  /** send (id) */
  unsubscribe: 'copse:unsubscribe',
  /** pushed (id, `StreamReply`) */
  item: 'copse:item',
  /** invoke () → path or null */
  pickFolder: 'copse:pick-folder',
  /** invoke (path) → null: shows it in the file manager */
  showFolder: 'copse:show-folder',
  /** invoke () → `FolderTool[]` */
  folderTools: 'copse:folder-tools',
  /** invoke (tool id, path) → whether it was opened */
  openFolder: 'copse:open-folder',
  /** invoke (tool id, task id, path in its worktree, line) → whether it was opened */
  openFile: 'copse:open-file',
  /** invoke (id, `SystemNotice`) → null; the system shows the notification */
  notify: 'copse:notify',
  /** pushed (id, `NoticeResponse`): what the user did with the notification */
  noticeAnswered: 'copse:notice-answered',
  /** invoke (count) → null: the number on the app's icon */
  badge: 'copse:badge',
  /** invoke () → `DesktopState`; from then on `state` and `request` are pushed */
  listen: 'copse:listen',
  /** pushed (`DesktopState`) */
  state: 'copse:state',
  /** pushed (`DesktopRequest`) */
  request: 'copse:request',
  /** invoke (`DesktopChange`) → null; the result is pushed on `state` */
  change: 'copse:change',
  /** invoke (`UpdateStep`) → null */
  update: 'copse:update',
  /** send (`PagePreferences`) */
  preferences: 'copse:preferences',
  /** send (path): a file or folder was dropped on the page */
  dropped: 'copse:dropped',
} as const

export type ReplyError = ErrorBody['error']
export type CallReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ReplyError }
export type StreamReply =
  | { readonly kind: 'item'; readonly item: FeedItem | TranscriptItem }
  | { readonly kind: 'failed'; readonly error: ReplyError }
  | { readonly kind: 'end' }

/** A local program that can open a folder: an editor or a terminal. */
export interface FolderTool {
  readonly id: string
  readonly name: string
  /** Whether it can open a file at a line too. */
  readonly files: boolean
}

/** A system notification. It replaces an earlier one with the same `tag`. */
export interface SystemNotice {
  readonly tag: string
  readonly title: string
  readonly body: string
  /** The labels of its buttons, where the system has them (macOS and Windows). */
  readonly actions?: readonly string[]
  /** The placeholder of its text field, where the system has one. */
  readonly reply?: string
}

/** What the user did with a notification. After a click the window is in front; the others leave it where it is. */
export type NoticeResponse =
  | { readonly kind: 'clicked' }
  | { readonly kind: 'action'; readonly index: number }
  | { readonly kind: 'reply'; readonly text: string }

/** Settings of the program on this machine. */
export interface DesktopSettings {
  /** Behaviour when the window is closed while agents run. */
  readonly whenClosed: 'ask' | 'tray' | 'quit'
  /** Behaviour when the program is quit while agents run. */
  readonly whenQuit: 'ask' | 'end'
  readonly updates: 'stable' | 'beta' | 'off'
}

/** The state of updates. Nothing is downloaded or installed without a click. */
export type UpdateState =
  | { readonly kind: 'unavailable'; readonly reason: 'not_installed' | 'no_feed' }
  | { readonly kind: 'off' }
  | { readonly kind: 'current'; readonly checked_at: string | null }
  | { readonly kind: 'checking' }
  | { readonly kind: 'available'; readonly version: string }
  | { readonly kind: 'downloading'; readonly version: string; readonly percent: number }
  | { readonly kind: 'ready'; readonly version: string }
  | { readonly kind: 'failed'; readonly message: string }
export type UpdateStep = 'check' | 'download' | 'install'

export interface DesktopState {
  readonly settings: DesktopSettings
  /** Whether the program starts with the system; null if the system can't start it, because it is not installed. */
  readonly autoStart: boolean | null
  readonly update: UpdateState
}
export type DesktopChange = Partial<DesktopSettings> & { readonly autoStart?: boolean }

/** Requests of the desktop to the page: from menu, tray, link or drop. */
export type DesktopRequest =
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'open_task'; readonly task_id: string }
  | { readonly kind: 'open_screen'; readonly screen: 'add' | 'settings/desktop' }
  | { readonly kind: 'add_folder'; readonly path: string }
  | { readonly kind: 'refused'; readonly message: string }

/** A command of the page with its first key in the notation of tinykeys; null without keys. */
export interface MenuCommand {
  readonly id: string
  readonly label: string
  readonly keys: string | null
}

/** Preferences of the page that the desktop uses too. */
export interface PagePreferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly commands: readonly MenuCommand[]
}

/** The API that the preload provides as `window.copse`. */
export interface DesktopBridge {
  readonly platform: string
  call(name: OperationName, input: unknown): Promise<CallReply>
  /** Returns the function that ends the subscription. `after`: the last number seen, or null. */
  subscribe(stream: StreamName, input: unknown, after: number | null, onReply: (reply: StreamReply) => void): () => void
  pickFolder(): Promise<string | null>
  showFolder(path: string): Promise<void>
  folderTools(): Promise<readonly FolderTool[]>
  /** Resolves to whether the folder was opened. */
  openFolder(tool: string, path: string): Promise<boolean>
  /** Opens a file of a task's worktree at a line; resolves to whether it was opened. Refuses a path that leads out. */
  openFile(tool: string, taskId: string, path: string, line: number): Promise<boolean>
  /** Shows a system notification. */
  notify(notice: SystemNotice, onResponse: (response: NoticeResponse) => void): void
  /** 0 removes the number. */
  setBadge(count: number): void
  /** Pending requests are delivered at once. A page calls this once. */
  listen(onState: (state: DesktopState) => void, onRequest: (request: DesktopRequest) => void): void
  /** The result arrives as a new state. */
  change(change: DesktopChange): Promise<void>
  update(step: UpdateStep): Promise<void>
  setPreferences(preferences: PagePreferences): void
}
