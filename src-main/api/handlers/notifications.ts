import { z } from 'zod'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { NotificationId, Timestamp, type ProjectId } from '../../../src-shared/contract/ids.ts'
import { kindOf, notificationTypes } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { NotificationRecord } from '../../ports/notification-queries.ts'
import type { Queries } from '../../ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, throwNotFound } from '../find.ts'
import { pageOf, cursorFor } from '../pages.ts'
import { readerId, userOf } from '../reader-id.ts'
import { canSeeProject, projectAccessRefusal } from '../project-visibility.ts'

type Names =
  | 'notifications.list'
  | 'notifications.unread_count'
  | 'notifications.mark_all_read'
  | 'notifications.mark_read'
  | 'notifications.mark_unread'
  | 'notifications.delete'

export function createNotificationHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed } = parts
  const { read } = store
  return {
    'notifications.list': ({ project_id, newest = false, read: isRead, kind, cursor, limit }, { principal }) => {
      const found = read.notifications.list({
        reader: readerId(principal),
        actor: actorOf(principal),
        project_ids: projectsFor(read, principal, project_id),
        newest,
        read: isRead ?? null,
        types: kind === undefined ? null : notificationTypes.filter((type) => kindOf(type) === kind),
        after: cursorFor(Cursor, cursor),
        limit: limit + 1,
      })
      return pageOf(found, limit, ({ created_at, id }) => ({ created_at, id }))
    },
    'notifications.unread_count': ({ project_id }, { principal }) => ({
      count: read.notifications.unreadCount(
        readerId(principal),
        projectsFor(read, principal, project_id),
        actorOf(principal),
      ),
    }),
    'notifications.mark_all_read': ({ project_id }, { principal }) => {
      const projects = projectsFor(read, principal, project_id)
      feed.commit((tx) => {
        for (const project of projects) {
          const marked = tx.notifications.markAllRead(readerId(principal), [project])
          if (marked > 0) announceRead(tx, principal, project, null, true)
        }
      })
      return null
    },
    'notifications.mark_read': ({ notification_id }, { principal }) => mark(parts, principal, notification_id, true),
    'notifications.mark_unread': ({ notification_id }, { principal }) => mark(parts, principal, notification_id, false),
    'notifications.delete': ({ notification_id }, { principal }) => {
      const found = findVisible(read, principal, notification_id)
      feed.commit((tx) => {
        tx.notifications.delete(found.id)
        const { project_id, task_id } = found
        tx.emit('notification.deleted', { project_id, task_id, notification_id })
      })
      return null
    },
  }
}

function mark({ store, feed }: ApiParts, principal: Principal, id: NotificationId, read: boolean): Notification {
  const found = findVisible(store.read, principal, id)
  feed.commit((tx) => {
    const change = read ? tx.notifications.markRead : tx.notifications.markUnread
    if (change(id, readerId(principal))) announceRead(tx, principal, found.project_id, id, read)
  })
  return { ...found, read }
}

/** Emits an event for the reader's other windows. */
function announceRead(
  tx: Tx,
  principal: Principal,
  project_id: ProjectId,
  notification_id: NotificationId | null,
  read: boolean,
): void {
  tx.emit('notification.read', { project_id, user_id: userOf(principal), notification_id, read })
}

/** Returns the named project, or all that the caller works in. */
function projectsFor(q: Queries, principal: Principal, project_id: ProjectId | undefined): readonly ProjectId[] {
  if (project_id === undefined) {
    return q.projects
      .list()
      .filter((project) => canSeeProject(q, principal, project))
      .map((project) => project.id)
  }
  requireSight(q, principal, project_id)
  return [project_id]
}

function findVisible(q: Queries, principal: Principal, id: NotificationId): NotificationRecord {
  const found = q.notifications.get(id) ?? throwNotFound('notification')
  requireSight(q, principal, found.project_id)
  return found
}

function requireSight(q: Queries, principal: Principal, project_id: ProjectId): void {
  const refusal = projectAccessRefusal(q, principal, findProject(q, project_id))
  if (refusal) throw new ApiError(refusal)
}

/** The cursor of a page: time and ID of its last notification. */
const Cursor = z.strictObject({ created_at: Timestamp, id: NotificationId })
