import { commentState } from '../../src-shared/contract/comments.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { CommentId } from '../../src-shared/contract/ids.ts'
import { invalidInput } from '../domain/refusal.ts'
import { feedbackText, threadsOf } from './rules/feedback-text.ts'
import type { Ground } from '../core/ground.ts'
import type { CommentRecord } from '../ports/comment-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { redactorOf } from '../core/redactor-of.ts'

export interface FeedbackInput {
  /** null: all comments that were not sent yet. */
  readonly comment_ids: readonly CommentId[] | null
  readonly message: string | null
}

/** In characters; agents don't read longer prompts to their end. */
const maxText = 400_000

export interface CollectedFeedback {
  readonly text: string
  readonly comments: readonly CommentRecord[]
}

/**
 * Returns the message for the coder with the comments that it sends, or the refusal if there is nothing to send.
 * Threads are sent whole, including comments that were sent before.
 */
export function collectFeedback(
  context: Pick<Ground, 'redactor'>,
  q: Queries,
  task: TaskRecord,
  request: FeedbackInput,
): CollectedFeedback | Refusal {
  const comments = q.comments.byTask(task.id)
  const known = new Set(comments.map((comment) => comment.id))
  const unknown = request.comment_ids?.find((id) => !known.has(id))
  if (unknown !== undefined) {
    return {
      code: 'not_found',
      message: `This task has no comment ${unknown}.`,
      details: { resource: 'comment', id: unknown },
    }
  }
  const drafts = comments.filter((comment) => commentState(comment) === 'draft').map((comment) => comment.id)
  const threads = threadsOf(comments, new Set(request.comment_ids ?? drafts))
  if (threads.length === 0 && request.message === null) {
    return invalidInput('message', 'Nothing to send: every comment was sent or resolved. Add a comment or a message.')
  }
  const redact = redactorOf(context, q, task.project_id)
  const text = feedbackText(threads, request.message === null ? null : redact(request.message))
  if (text.length > maxText) {
    return invalidInput('comment_ids', `This is too long to send (${text.length} characters). Choose fewer comments.`)
  }
  return { text, comments: threads.flat().filter((comment) => comment.resolved_at === null) }
}
