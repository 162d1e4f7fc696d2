import { baseConflictText } from '../../src-shared/contract/base-conflict-text.ts'
import type { NotificationId } from '../../src-shared/contract/ids.ts'
import type { NotificationType } from '../../src-shared/contract/notification-types.ts'
import type { Ground } from './ground.ts'
import type { Tx } from './event-feed.ts'
import type { NotificationRecord } from '../ports/notification-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { redactorOf } from './redactor-of.ts'

/** A notification to create; it is written in the same transaction as the outcome that it reports. */
export interface NotificationDraft {
  readonly event_type: NotificationType
  readonly body: string | null
  /** The actor who caused it, for whom it is read. */
  readonly caused_by?: string
}

/** In characters. The body gives the reason in readable length; the logs have the rest. */
const maxBody = 10_000

/** Creates a notification and its event in the caller's transaction, and returns its ID. Secrets are redacted. */
export function notify(
  context: Pick<Ground, 'newId' | 'redactor'>,
  tx: Tx,
  task: Pick<TaskRecord, 'id' | 'project_id' | 'title'>,
  notice: NotificationDraft,
): NotificationId {
  const redact = redactorOf(context, tx, task.project_id)
  const { event_type } = notice
  // Work that can't be merged is not ready, whatever its checks say.
  const conflict = event_type === 'review.passed' ? tx.base_conflicts.of(task.id) : null
  const base = tx.workspaces.byTask(task.id)?.base_branch ?? 'the base branch'
  const sentence = conflict ? `“${task.title}” conflicts with ${base}` : sentences[event_type](task.title)
  const body = conflict ? [baseConflictText(base, conflict.files), notice.body].filter(Boolean).join('. ') : notice.body
  const record: NotificationRecord = {
    id: context.newId() as NotificationId,
    event_type,
    title: redact(sentence),
    body: body === null ? null : redact(body).slice(0, maxBody),
    project_id: task.project_id,
    task_id: task.id,
    created_at: tx.now(),
    caused_by: notice.caused_by?.startsWith('user:') ? notice.caused_by : null,
  }
  tx.notifications.put(record)
  tx.emit('notification.created', {
    project_id: record.project_id,
    task_id: record.task_id,
    notification_id: record.id,
    event_type,
    title: record.title,
    body: record.body,
    caused_by: record.caused_by,
  })
  return record.id
}

/** Removes a notification whose news is over, with its event. */
export function withdrawNotification(tx: Tx, id: NotificationId): void {
  const found = tx.notifications.get(id)
  if (!found) return
  tx.notifications.delete(id)
  tx.emit('notification.deleted', { project_id: found.project_id, task_id: found.task_id, notification_id: id })
}

const sentences: { readonly [T in NotificationType]: (title: string) => string } = {
  'task.done': (title) => `“${title}” is done`,
  'task.blocked': (title) => `“${title}” needs you`,
  'review.passed': (title) => `“${title}” is ready for your review`,
  'review.failed': (title) => `“${title}” failed review`,
  'merge.failed': (title) => `Couldn't merge “${title}”`,
  'execution.failed': (title) => `“${title}”: the agent failed`,
  'execution.asks': (title) => `“${title}”: the agent has a question`,
  'knowledge.proposed': (title) => `“${title}”: the agent proposed knowledge`,
  'limit.warning': (title) => `“${title}” is near a limit`,
  'pull_request.needs_you': (title) => `“${title}”: its pull request needs you`,
}
