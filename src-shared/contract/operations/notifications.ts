import { z } from 'zod'
import { NotificationId, ProjectId } from '../ids.ts'
import { notificationKinds } from '../notification-types.ts'
import { Notification } from '../notifications.ts'
import { del, get, page, paginated, patch, post } from '../operation.ts'

export const notificationsOperations = {
  'notifications.list': get(
    '/notifications',
    'human',
    'Notifications of the caller’s projects, newest first. Those of the caller’s own acts are read from the start.',
    z.object({
      project_id: ProjectId.optional(),
      newest: z
        .boolean()
        .optional()
        .describe(
          'One per task: its newest, as in the inbox of the app, without the caller’s own acts. `read` and `kind` are about that one.',
        ),
      read: z.boolean().optional(),
      kind: z
        .enum(notificationKinds)
        .optional()
        .describe(
          '`finished`: `task.done`. `failed`: `review.failed`, `merge.failed` and `execution.failed`. `needs_you`: all others.',
        ),
      ...page(),
    }),
    paginated(Notification),
  ),
  'notifications.unread_count': get(
    '/notifications/unread-count',
    'human',
    'The number of tasks whose newest notification the caller has not read.',
    z.object({ project_id: ProjectId.optional() }),
    z.object({ count: z.int() }),
  ),
  'notifications.mark_all_read': {
    ...post(
      '/notifications/mark-all-read',
      'human',
      'Mark all as read, for the caller.',
      z.object({ project_id: ProjectId.optional() }),
      z.null(),
      204,
    ),
    query: ['project_id'],
  },
  'notifications.mark_read': patch(
    '/notifications/{notification_id}/read',
    'human',
    'Mark one as read, for the caller.',
    z.object({ notification_id: NotificationId }),
    Notification,
  ),
  'notifications.mark_unread': patch(
    '/notifications/{notification_id}/unread',
    'human',
    'Mark one as not read, for the caller.',
    z.object({ notification_id: NotificationId }),
    Notification,
  ),
  'notifications.delete': del(
    '/notifications/{notification_id}',
    'human',
    'Delete a notification for everyone.',
    z.object({ notification_id: NotificationId }),
  ),
} as const
