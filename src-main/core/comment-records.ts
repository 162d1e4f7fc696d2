import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import { commentState, type Comment, type CommentAnswer, type CommentSent } from '../../src-shared/contract/comments.ts'
import type { CommentId } from '../../src-shared/contract/ids.ts'
import type { CommentQueries, CommentRecord } from '../ports/comment-queries.ts'
import type { ExecutionQueries, ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Tx } from './event-feed.ts'
import type { ReviewQueries } from '../ports/review-queries.ts'

type CommentedTask = Pick<TaskRecord, 'id' | 'project_id'>

/** Converts a record to the API's form. */
function toComment(record: CommentRecord): Comment {
  return { ...record, state: commentState(record) }
}

/** Saves and emits a changed comment. Returns the saved comment. */
export function saveComment(tx: Tx, task: CommentedTask, before: CommentRecord, after: CommentRecord): CommentRecord {
  if (JSON.stringify(before) === JSON.stringify({ ...after, updated_at: before.updated_at })) return before
  const comment = { ...after, updated_at: tx.now() }
  tx.comments.put(comment)
  tx.emit('comment.updated', { project_id: task.project_id, task_id: task.id, comment: toComment(comment) })
  return comment
}

/** Marks comments as sent to a run. Comments that were sent before await a new answer. */
export function markSent(
  tx: Tx,
  task: CommentedTask,
  comment_ids: readonly CommentId[],
  sent: Pick<CommentSent, 'execution_id' | 'tree'>,
): void {
  const attempt = tx.reviews.latest(task.id)?.attempt_number ?? 0
  for (const id of comment_ids) {
    const comment = tx.comments.get(id)
    if (comment) saveComment(tx, task, comment, { ...comment, sent: { at: tx.now(), attempt, ...sent }, answer: null })
  }
}

/** Turns comments back into drafts after their message was withdrawn before an agent read it. */
export function unmarkSent(tx: Tx, task: CommentedTask, comment_ids: readonly CommentId[]): void {
  for (const id of comment_ids) {
    const comment = tx.comments.get(id)
    if (comment) saveComment(tx, task, comment, { ...comment, sent: null, answer: null })
  }
}

/** Returns the review attempt that a run works for: the one after the last when the run was queued. */
function attemptOfRun(q: { readonly reviews: ReviewQueries }, run: Pick<ExecutionRecord, 'id' | 'task_id'>): number {
  const before = q.reviews.byTask(run.task_id).filter(({ id }) => isLaterId(run.id, id))
  return Math.max(0, ...before.map(({ attempt_number }) => attempt_number)) + 1
}

/** Returns the unresolved comments of a task that were sent to the role of this run. */
export function sentTo(
  q: { readonly comments: CommentQueries; readonly executions: ExecutionQueries },
  run: ExecutionRecord,
): readonly CommentRecord[] {
  return q.comments.byTask(run.task_id).filter(({ sent, resolved_at }) => {
    if (sent === null || resolved_at !== null) return false
    return q.executions.get(sent.execution_id)?.role === run.role
  })
}

/**
 * Marks on the comments of a thread that the coder has replied. Returns the `sent` data for the reply, because its
 * author must not get it again; null if the reply answers none of the comments sent to the run.
 */
function noteReply(
  tx: Tx,
  task: CommentedTask,
  run: ExecutionRecord,
  reply: Pick<CommentRecord, 'id'>,
  thread: ReadonlySet<CommentId>,
): CommentSent | null {
  const answered = sentTo(tx, run).filter(({ id }) => thread.has(id))
  const attempt = attemptOfRun(tx, run)
  for (const comment of answered) {
    const answer = { change: null, ...comment.answer, at: tx.now(), attempt, comment_id: reply.id }
    saveComment(tx, task, comment, { ...comment, answer })
  }
  return answered[0]?.sent ?? null
}

export interface FoundChange {
  readonly comment_id: CommentId
  readonly change: NonNullable<CommentAnswer['change']>
}

/** Records how a run changed the lines that comments are about. An earlier recorded change keeps its attempt. */
export function noteChanges(tx: Tx, task: CommentedTask, run: ExecutionRecord, found: readonly FoundChange[]): void {
  const attempt = attemptOfRun(tx, run)
  for (const { comment_id, change } of found) {
    const comment = tx.comments.get(comment_id)
    if (!comment?.sent || comment.resolved_at !== null) continue
    const { answer } = comment
    const isKnown = answer?.change != null && answer.change.after.join('\n') === change.after.join('\n')
    const next = isKnown
      ? { ...answer, change }
      : { at: tx.now(), attempt, comment_id: answer?.comment_id ?? null, change }
    saveComment(tx, task, comment, { ...comment, answer: next })
  }
}

/** The comments of a task, for their authors. */
export interface Comments {
  view: typeof toComment
  save: typeof saveComment
  noteReply: typeof noteReply
}

export const comments: Comments = { view: toComment, save: saveComment, noteReply }
