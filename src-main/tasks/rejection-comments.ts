import type { Refusal } from '../../src-shared/contract/errors.ts'
import { commentState } from '../../src-shared/contract/comments.ts'
import type { CommentId, ExecutionId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { markSent } from '../core/comment-records.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { enqueueExecution } from '../executions/enqueue-execution.ts'
import type { CommentRecord } from '../ports/comment-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { StepServices } from '../steps/step-services.ts'
import { collectFeedback, type CollectedFeedback } from './collect-feedback.ts'

/** What a rejection says: its words, and the comments that it takes along. */
export type Rejection = Omit<CollectedFeedback, 'text'> & { readonly text: string | null }

interface Rejecting {
  readonly by: Assignee | { readonly type: 'operator' }
  /** null: those of the caller that were not sent yet. */
  readonly comment_ids: readonly CommentId[] | null
  readonly feedback: string | null
}

/** Returns what a rejection says; by default with the caller's comments that were not sent yet. */
export function rejectionOf(
  context: Pick<Ground, 'redactor'>,
  q: Queries,
  task: TaskRecord,
  { by, comment_ids, feedback }: Rejecting,
): Rejection | Refusal {
  const chosen = comment_ids ?? draftsOf(q, task, by)
  if (chosen.length === 0) return { text: feedback, comments: [] }
  return collectFeedback(context, q, task, { comment_ids: chosen, message: feedback })
}

function draftsOf(q: Queries, { id }: TaskRecord, by: Rejecting['by']): readonly CommentId[] {
  const isTheirs = ({ author }: CommentRecord) =>
    author.type === by.type && (by.type === 'operator' || author.id === by.id)
  return q.comments.byTask(id).flatMap((one) => (isTheirs(one) && commentState(one) === 'draft' ? [one.id] : []))
}

/**
 * After a rejection has moved the task back: queues the coder's next run, marks the comments as sent to it, and returns
 * the run. Where no one is assigned in that state they stay drafts for the next assignee; the rejection's text has them.
 */
export function sendWithRejection(
  { context, transitions }: Pick<StepServices, 'context' | 'transitions'>,
  tx: Tx,
  rejected: Pick<TaskRecord, 'id' | 'status'>,
  { comments }: Rejection,
  tree: string | null,
): ExecutionId | null {
  const task = tx.tasks.get(rejected.id)
  if (!task || comments.length === 0 || task.status === rejected.status) return null
  const state = transitions.workflowOf(tx, task).states.get(task.status)
  const role = state && roleOf(state)
  const assignee = role ? task.roles[role] : undefined
  // Blocked work has no next run.
  if (!role || !assignee) return null
  const execution_id = context.newId() as ExecutionId
  const ids = comments.map(({ id }) => id)
  // Before the prompt is written, so that it does not have them twice.
  markSent(tx, task, ids, { execution_id, tree })
  // The dispatch of the entry lets it start.
  const run = { id: execution_id, task, role, assignee, overrides: {}, resume: true, dispatched: false }
  enqueueExecution(context, tx, run)
  tx.saveTask({ ...task, active_execution_id: execution_id })
  return execution_id
}
