import { z } from 'zod'
import { NotificationId, ProjectId, TaskId, Timestamp } from './ids.ts'

export const notificationTypes = [
  'task.done',
  'task.blocked',
  'review.passed',
  'review.failed',
  'merge.failed',
  'execution.asks',
] as const
export type NotificationType = (typeof notificationTypes)[number]

export const notificationTones = ['success', 'warning'] as const
export type NotificationTone = (typeof notificationTones)[number]

const successes: readonly NotificationType[] = ['task.done', 'review.passed']

/** Whether a notification is good news; all that is not is a warning. */
export function toneOf(type: NotificationType): NotificationTone {
  return successes.includes(type) ? 'success' : 'warning'
}

/** A milestone that somebody should hear of. */
export const Notification = z
  .object({
    id: NotificationId,
    event_type: z.enum(notificationTypes),
    title: z.string(),
    body: z.string().nullable(),
    project_id: ProjectId,
    task_id: TaskId,
    read: z.boolean().describe('By the caller.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof Notification>
