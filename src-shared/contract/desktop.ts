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
  /** invoke (tool id, task id, path in its worktree, line) → whether it was opened there */
  openFile: 'copse:open-file',
  /** invoke (id, `SystemNotice`) → null: the system shows it */
  notify: 'copse:notify',
  /** pushed (id): the person has clicked it, and the window is in front */
  noticeClicked: 'copse:notice-clicked',
  /** invoke (count) → null: the number on the app's icon */
  badge: 'copse:badge',
  /** invoke () → `DesktopState`; from then on the page hears `state` and `request` */
  listen: 'copse:listen',
  /** pushed (`DesktopState`) */
  state: 'copse:state',
  /** pushed (`DesktopRequest`) */
  request: 'copse:request',
  /** invoke (`DesktopChange`) → null; what came of it is pushed on `state` */
  change: 'copse:change',
  /** invoke (`UpdateStep`) → null */
  update: 'copse:update',
  /** send (`PagePreferences`) */
  preferences: 'copse:preferences',
  /** send (path): something of the file manager was dropped on the page */
  dropped: 'copse:dropped',
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
  /** It opens files, too, at a line. */
  readonly files: boolean
}

/** What the system shows of a notification. One with the `tag` of an earlier one takes its place. */
export interface SystemNotice {
  readonly tag: string
  readonly title: string
  readonly body: string
}

/** How the program behaves on this machine. */
export interface DesktopSettings {
  /** When the window is closed while agents run. */
  readonly whenClosed: 'ask' | 'tray' | 'quit'
  /** When the program is quit while agents run. */
  readonly whenQuit: 'ask' | 'end'
  readonly updates: 'stable' | 'beta' | 'off'
}

/** How it stands with newer versions. Nothing is fetched and nothing installed without a click. */
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
  /** Started with the system; null where the system could not start it, since it is not installed. */
  readonly autoStart: boolean | null
  readonly update: UpdateState
}
export type DesktopChange = Partial<DesktopSettings> & { readonly autoStart?: boolean }

/** What the desktop asks of the page: by menu, tray, link or drop. */
export type DesktopRequest =
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'open_task'; readonly task_id: string }
  | { readonly kind: 'open_screen'; readonly screen: 'add' | 'settings/desktop' }
  | { readonly kind: 'add_folder'; readonly path: string }
  | { readonly kind: 'refused'; readonly message: string }

/** A command of the page with the first of its keys, in the notation of tinykeys; null without keys. */
export interface MenuCommand {
  readonly id: string
  readonly label: string
  readonly keys: string | null
}

/** What the desktop takes over from the page. */
export interface PagePreferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly commands: readonly MenuCommand[]
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
  /** Opens a file of a task's worktree at a line; whether it was opened. A path that leads out of it opens nothing. */
  openFile(tool: string, taskId: string, path: string, line: number): Promise<boolean>
  /** Asks the system to show it; a click brings the window forward and calls `onClick`. */
  notify(notice: SystemNotice, onClick: () => void): void
  /** 0 takes the number away. */
  setBadge(count: number): void
  /** Requests that came before are told at once. One page listens once. */
  listen(onState: (state: DesktopState) => void, onRequest: (request: DesktopRequest) => void): void
  /** What came of it is told as a new state. */
  change(change: DesktopChange): Promise<void>
  update(step: UpdateStep): Promise<void>
  setPreferences(preferences: PagePreferences): void
}
