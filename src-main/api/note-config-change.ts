import type { ReviewConfig } from '../../src-shared/contract/projects.ts'
import type { Tx } from '../core/event-feed.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Records who changed the review settings, and shows it at an open review. */
export function noteConfigChange(
  tx: Tx,
  task: TaskRecord,
  { after, by }: { readonly after: ReviewConfig; readonly by: string },
): Pick<TaskRecord, 'review_config_changes'> | null {
  const before = task.review_config
  if (JSON.stringify([before.ci_steps, before.review_prompt]) === JSON.stringify([after.ci_steps, after.review_prompt]))
    return null
  const review_config_changes = [...task.review_config_changes, { by, at: tx.now(), before }].slice(-maxKept)
  const review = tx.reviews.latest(task.id)
  if (review?.status === 'running' || review?.status === 'pending') {
    const shown = { ...review, config_changes: review_config_changes }
    tx.reviews.put(shown)
    tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: shown })
  }
  return { review_config_changes }
}

const maxKept = 50
