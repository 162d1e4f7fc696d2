import type { NotificationId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { NotificationType } from '../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../src-shared/contract/notifications.ts'

export type NotificationRecord = Omit<Notification, 'read'>

export interface NotificationFilter {
  /** Whose marks count: a user's id, or `operator`. */
  readonly reader: string
  /** Whose own acts are left out: `user:<handle>`. */
  readonly actor?: string
  readonly project_ids: readonly ProjectId[]
  /** Only the newest of each task, which the rest of the filter is asked about then. */
  readonly newest?: boolean
  readonly read: boolean | null
  /** null: all of them. */
  readonly types: readonly NotificationType[] | null
  readonly after: { readonly created_at: string; readonly id: NotificationId } | null
  readonly limit: number
}

/** Milestones, and who has read them. */
export interface NotificationQueries {
  get(id: NotificationId): NotificationRecord | null
  put(record: NotificationRecord): void
  delete(id: NotificationId): void
  /** Newest first, of the given projects, with what the reader has read. */
  list(filter: NotificationFilter): readonly (NotificationRecord & { readonly read: boolean })[]
  /** Returns the number of tasks whose newest notification the reader has not read; `actor`: without their own acts. */
  unreadCount(reader: string, project_ids: readonly ProjectId[], actor?: string): number
  isRead(id: NotificationId, reader: string): boolean
  /** Both answer whether that changed anything. */
  markRead(id: NotificationId, reader: string): boolean
  markUnread(id: NotificationId, reader: string): boolean
  /** One reader's marks become another's. */
  passOn(from: string, to: string): void
  /** Answers how many were not read before. */
  markAllRead(reader: string, project_ids: readonly ProjectId[]): number
}
