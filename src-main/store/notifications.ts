import { and, desc, eq, exists, inArray, notExists, sql, type SQL } from 'drizzle-orm'
import type { NotificationFilter, NotificationQueries } from '../ports/notification-queries.ts'
import type { NotificationId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { olderThan } from './keyset-pagination.ts'
import { users } from './schema/identity.ts'
import { notificationReads, notifications } from './schema/notes.ts'

/** Creates the queries of notifications and their read marks. */
export function createNotificationQueries(db: Database): NotificationQueries {
  const write = prepareUpsert(db, notifications, notifications.id)
  return {
    get: prepareGet(db, notifications, notifications.id),
    put: (record) => {
      const caused_by = record.caused_by ?? null
      write({ ...record, caused_by })
      if (caused_by !== null) markOwn(db, record.id, caused_by)
    },
    delete: (id) => void db.delete(notifications).where(eq(notifications.id, id)).run(),
    list: (filter) => listNotifications(db, filter),
    unreadCount: (reader, project_ids, actor) =>
      db
        .select({ n: sql<number>`count(*)` })
        .from(notifications)
        .where(and(isNewestOfTask(db, project_ids, actor), notExists(mark(db, reader))))
        .get()?.n ?? 0,
    isRead: (id, reader) =>
      db
        .select({ id: notificationReads.notification_id })
        .from(notificationReads)
        .where(and(eq(notificationReads.notification_id, id), eq(notificationReads.reader, reader)))
        .get() !== undefined,
    markRead: (notification_id, reader) =>
      db.insert(notificationReads).values({ notification_id, reader }).onConflictDoNothing().run().changes > 0,
    markUnread: (notification_id, reader) =>
      db
        .delete(notificationReads)
        .where(and(eq(notificationReads.notification_id, notification_id), eq(notificationReads.reader, reader)))
        .run().changes > 0,
    passOn: (from, to) =>
      void db.update(notificationReads).set({ reader: to }).where(eq(notificationReads.reader, from)).run(),
    markAllRead: (reader, project_ids) => {
      const unread = db
        .select({ notification_id: notifications.id, reader: sql<string>`${reader}`.as('reader') })
        .from(notifications)
        .where(and(isOf(project_ids), notExists(mark(db, reader))))
      return db.insert(notificationReads).select(unread).run().changes
    },
  }
}

function listNotifications(db: Database, filter: NotificationFilter): ReturnType<NotificationQueries['list']> {
  const { reader, actor, project_ids, newest, read, types, after, limit } = filter
  const marked = mark(db, reader)
  return db
    .select({ notification: notifications, read: sql<number>`${exists(marked)}` })
    .from(notifications)
    .where(
      and(
        isOf(project_ids),
        newest === true ? isNewestOfTask(db, project_ids, actor) : undefined,
        types === null ? undefined : inArray(notifications.event_type, types),
        olderThan(notifications, after),
        read === null ? undefined : read ? exists(marked) : notExists(marked),
      ),
    )
    .orderBy(desc(notifications.created_at), desc(notifications.id))
    .limit(limit)
    .all()
    .map((row) => ({ ...row.notification, read: row.read === 1 }))
}

/** Marks a notification as read for the person whose own act it reports. */
function markOwn(db: Database, notification_id: NotificationId, actor: string): void {
  const handle = actor.slice('user:'.length)
  const known = db.select({ id: users.id }).from(users).where(eq(users.handle, handle)).get()
  const reader = known?.id ?? (handle === 'local' ? 'operator' : null)
  if (reader !== null) db.insert(notificationReads).values({ notification_id, reader }).onConflictDoNothing().run()
}

/** One project uses its own index; several are filtered from all rows. */
function isOf(project_ids: readonly ProjectId[]): SQL {
  const [only] = project_ids
  if (project_ids.length === 1 && only !== undefined) return eq(notifications.project_id, only)
  return sql`${notifications.project_id} IN (SELECT value FROM json_each(${JSON.stringify(project_ids)}))`
}

/**
 * Returns the condition for the newest notification of each task. A task whose newest is the reader's own act has
 * none: what came before it is over.
 */
function isNewestOfTask(db: Database, project_ids: readonly ProjectId[], actor: string | undefined): SQL | undefined {
  // IDs grow with time.
  const newest = db
    .select({ id: sql`max(${notifications.id})` })
    .from(notifications)
    .where(isOf(project_ids))
    .groupBy(notifications.task_id)
  return and(inArray(notifications.id, newest), isNewsTo(actor))
}

/** Returns the condition that leaves out notifications of the reader's own acts. */
const isNewsTo = (actor: string | undefined): SQL | undefined =>
  actor === undefined ? undefined : sql`${notifications.caused_by} IS NOT ${actor}`

/** Returns the subquery for the reader's mark on the current notification. */
function mark(db: Database, reader: string) {
  return db
    .select({ one: sql`1` })
    .from(notificationReads)
    .where(and(eq(notificationReads.notification_id, notifications.id), eq(notificationReads.reader, reader)))
}
