import type { NotificationId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { NotificationType } from '../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../src-shared/contract/notifications.ts'

export type NotificationRecord = Omit<Notification, 'read'>

export interface NotificationFilter {
  /** The reader whose read marks count: a user's ID, or `operator`. */
  readonly reader: string
  /** The actor whose own notifications `newest` leaves out: `user:<handle>`. */
  readonly actor?: string
  readonly project_ids: readonly ProjectId[]
  /** Only each task's newest notification; the rest of the filter applies to that one. */
  readonly newest?: boolean
  readonly read: boolean | null
  /** null: all types. */
  readonly types: readonly NotificationType[] | null
  readonly after: { readonly created_at: string; readonly id: NotificationId } | null
  readonly limit: number
}

/** Notifications, and who has read them. */
export interface NotificationQueries {
  get(id: NotificationId): NotificationRecord | null
  /** Adds a notification; it is read for the person who caused it. */
  put(record: NotificationRecord): void
  delete(id: NotificationId): void
  /** Returns notifications of the given projects, newest first, with whether the reader has read them. */
  list(filter: NotificationFilter): readonly (NotificationRecord & { readonly read: boolean })[]
  /** Returns the number of tasks whose newest notification is unread; with `actor`, without that actor's own. */
  unreadCount(reader: string, project_ids: readonly ProjectId[], actor?: string): number
  isRead(id: NotificationId, reader: string): boolean
  /** Returns whether that changed anything, as `markUnread` does. */
  markRead(id: NotificationId, reader: string): boolean
  markUnread(id: NotificationId, reader: string): boolean
  /** Transfers the read marks of one reader to another. */
  passOn(from: string, to: string): void
  /** Returns the number of notifications that were unread. */
  markAllRead(reader: string, project_ids: readonly ProjectId[]): number
}
