import { z } from 'zod'
import { NotificationId, ProjectId, TaskId, Timestamp } from './ids.ts'
import { notificationTypes } from './notification-types.ts'

/** A notification of an event. */
export const Notification = z
  .object({
    id: NotificationId,
    event_type: z.enum(notificationTypes),
    title: z.string(),
    body: z.string().nullable(),
    project_id: ProjectId,
    task_id: TaskId,
    caused_by: z
      .string()
      .nullable()
      .optional()
      .describe('`user:<handle>` whose own act this reports; for them it is read from the start. null: no one’s.'),
    read: z.boolean().describe('By the caller.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof Notification>
