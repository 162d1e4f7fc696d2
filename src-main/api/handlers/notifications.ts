import { ApiError } from '../../../src-shared/contract/errors.ts'
import { NotificationId, Timestamp, type ProjectId } from '../../../src-shared/contract/ids.ts'
import type { Principal } from '../../domain/access/principal.ts'
import type { NotificationFilter, NotificationRecord } from '../../engine/store-port.ts'
import type { ApiParts, Handlers, Queries } from '../context.ts'
import { findProject, missing } from '../find.ts'
import { readerOf } from '../reader-of.ts'
import { seesProject, whyUnseen } from '../project-sight.ts'

type Names =
  | 'notifications.list'
  | 'notifications.unread_count'
  | 'notifications.mark_all_read'
  | 'notifications.mark_read'
  | 'notifications.delete'

export function createNotificationHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed } = parts
  const { read } = store
  return {
    'notifications.list': ({ project_id, read: isRead, cursor, limit }, { principal }) => {
      const found = read.notifications.list({
        reader: readerOf(principal),
        project_ids: projectsFor(read, principal, project_id),
        read: isRead ?? null,
        after: cursor === undefined ? null : parseCursor(cursor),
        limit: limit + 1,
      })
      const items = found.slice(0, limit)
      const last = items.at(-1)
      const has_more = found.length > limit
      return { items, has_more, next_cursor: has_more && last ? cursorOf(last) : null }
    },
    'notifications.unread_count': ({ project_id }, { principal }) => ({
      count: read.notifications.unreadCount(readerOf(principal), projectsFor(read, principal, project_id)),
    }),
    'notifications.mark_all_read': ({ project_id }, { principal }) => {
      const projects = projectsFor(read, principal, project_id)
      feed.commit((tx) => {
        tx.notifications.markAllRead(readerOf(principal), projects)
      })
      return null
    },
    'notifications.mark_read': ({ notification_id }, { principal }) => {
      const found = findVisible(read, principal, notification_id)
      feed.commit((tx) => {
        tx.notifications.markRead(found.id, readerOf(principal))
      })
      return { ...found, read: true }
    },
    'notifications.delete': ({ notification_id }, { principal }) => {
      const found = findVisible(read, principal, notification_id)
      feed.commit((tx) => {
        tx.notifications.delete(found.id)
      })
      return null
    },
  }
}

/** The named project, or all that the caller works in. */
function projectsFor(q: Queries, principal: Principal, project_id: ProjectId | undefined): readonly ProjectId[] {
  if (project_id === undefined) {
    return q.projects
      .list()
      .filter((project) => seesProject(q, principal, project))
      .map((project) => project.id)
  }
  requireSight(q, principal, project_id)
  return [project_id]
}

function findVisible(q: Queries, principal: Principal, id: NotificationId): NotificationRecord {
  const found = q.notifications.get(id) ?? missing('notification')
  requireSight(q, principal, found.project_id)
  return found
}

function requireSight(q: Queries, principal: Principal, project_id: ProjectId): void {
  const refusal = whyUnseen(q, principal, findProject(q, project_id))
  if (refusal) throw new ApiError(refusal)
}

/** Where a page ended: the time and id of its last notification. */
function cursorOf({ created_at, id }: NotificationRecord): string {
  return `${created_at}_${id}`
}

function parseCursor(cursor: string): NotificationFilter['after'] {
  const [created_at, id] = cursor.split('_')
  const time = Timestamp.safeParse(created_at)
  const known = NotificationId.safeParse(id)
  if (time.success && known.success) return { created_at: time.data, id: known.data }
  const message = 'This cursor is none that a list answered. Leave it out to start from the beginning.'
  throw new ApiError({ code: 'validation_failed', message, details: { issues: [{ path: 'cursor', message }] } })
}
