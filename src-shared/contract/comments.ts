import { z } from 'zod'
import { CommentId, TaskId, Timestamp } from './ids.ts'

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

/** A note on a task, by a person or an agent; with an anchor it is part of the diff review. */
/** The fields of a comment that clients set and change, once. */
export const CommentFields = z.object({ body: z.string().trim().min(1).max(100_000) })

export const Comment = z
  .object({
    id: CommentId,
    task_id: TaskId,
    parent_id: CommentId.nullable().describe('The comment that this one answers.'),
    author: z.object({ type: z.enum(['agent', 'user', 'operator']), id: z.string().nullable(), name: z.string() }),
    body: z.string(),
    anchor: CommentAnchor.nullable(),
    resolved_at: Timestamp.nullable().describe('Feedback sends the coder what is not resolved.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Comment' })
export type Comment = z.infer<typeof Comment>
