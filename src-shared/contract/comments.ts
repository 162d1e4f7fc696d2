import { z } from 'zod'
import { CommentId, ExecutionId, TaskId, Timestamp } from './ids.ts'

/** The line or lines of the diff that a comment is about. */
export const CommentAnchor = z
  .object({
    path: z.string().min(1).max(4_096),
    side: z.enum(['old', 'new']),
    line: z.int().min(1).describe('Of several lines the last.'),
    start_line: z.int().min(1).optional().describe('Of several lines the first.'),
  })
  .refine(({ line, start_line = line }) => start_line <= line, {
    path: ['start_line'],
    message: 'The first line is not after the last.',
  })
export type CommentAnchor = z.infer<typeof CommentAnchor>

/** The fields of a comment that clients set and change. */
export const CommentFields = z.object({ body: z.string().trim().min(1).max(100_000) })

/** How the lines that a comment is about changed. */
export const LineChange = z.object({
  line: z.int().nullable().describe('Where the last of them is now; null when they are gone.'),
  before: z.array(z.string()).describe('The changed lines as they were when the comment was sent.'),
  after: z.array(z.string()).describe('What stands there instead.'),
  truncated: z.boolean().describe('Only the first lines are here.'),
})
export type LineChange = z.infer<typeof LineChange>

export const CommentSent = z.object({
  at: Timestamp,
  attempt: z.int().describe('The newest review attempt then; 0 before the first.'),
  execution_id: ExecutionId.describe('The run that it was sent to.'),
  tree: z.string().nullable().describe('Git’s tree of all of the work then; null where there was none to read.'),
})
export type CommentSent = z.infer<typeof CommentSent>

export const CommentAnswer = z.object({
  at: Timestamp,
  attempt: z.int().describe('The review attempt that the work of this run is for.'),
  comment_id: CommentId.nullable().describe('What the agent said.'),
  change: LineChange.nullable().describe('What it did to the lines.'),
})
export type CommentAnswer = z.infer<typeof CommentAnswer>

const CommentOriginal = z.object({
  tree: z.string().describe('Git’s tree of all of the work then.'),
  lines: z.array(z.string()),
})

const AppliedSuggestion = z.object({ at: Timestamp, by: z.string(), commit: z.string() })

const commentStates = ['draft', 'sent', 'answered', 'resolved'] as const
export type CommentState = (typeof commentStates)[number]

/** A comment on a task, by a person or an agent; with an anchor it is part of the diff review. */
export const Comment = z
  .object({
    id: CommentId,
    task_id: TaskId,
    parent_id: CommentId.nullable().describe('The comment that this one answers.'),
    author: z.object({ type: z.enum(['agent', 'user', 'operator']), id: z.string().nullable(), name: z.string() }),
    body: z.string(),
    anchor: CommentAnchor.nullable(),
    state: z
      .enum(commentStates)
      .describe(
        '`draft`: feedback will send it. `sent`: the coder has it. `answered`: the coder replied, or changed the lines. `resolved`: someone said that it is done.',
      ),
    sent: CommentSent.nullable().describe('When feedback last sent it.'),
    answer: CommentAnswer.nullable().describe('What came of it since then.'),
    original: CommentOriginal.nullable().describe(
      'The lines that its ```suggestion block would replace, as they were when it was written; null where there is nothing to apply.',
    ),
    applied: AppliedSuggestion.nullable().describe('What came of its suggestion.'),
    resolved_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Comment' })
export type Comment = z.infer<typeof Comment>

/** Returns the state of a comment between draft and resolved. */
export function commentState({
  resolved_at,
  answer,
  sent,
}: Pick<Comment, 'resolved_at' | 'answer' | 'sent'>): CommentState {
  if (resolved_at !== null) return 'resolved'
  if (answer !== null) return 'answered'
  return sent === null ? 'draft' : 'sent'
}
