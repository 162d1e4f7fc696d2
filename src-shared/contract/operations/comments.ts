import { z } from 'zod'
import { Comment, CommentAnchor, CommentFields } from '../comments.ts'
import { CommentId, TaskId } from '../ids.ts'
import { del, get, list, patch, post } from '../operation.ts'

export const commentsOperations = {
  'comments.list': get(
    '/tasks/{task_id}/comments',
    'member',
    'The task’s comments, oldest first.',
    z.object({ task_id: TaskId }),
    list(Comment),
  ),
  'comments.create': post(
    '/tasks/{task_id}/comments',
    'member',
    'Comment on a task, or on a line of its diff.',
    z.object({
      task_id: TaskId,
      ...CommentFields.shape,
      parent_id: CommentId.optional(),
      anchor: CommentAnchor.optional(),
      resolves: z.boolean().optional().describe('With `parent_id`: the thread is resolved by this answer.'),
    }),
    Comment,
    201,
    ['rate_limited'],
  ),
  'comments.update': patch(
    '/comments/{comment_id}',
    'member',
    'Edit your comment, or mark any as resolved. What was sent and is edited is a draft again.',
    z.object({ comment_id: CommentId, ...CommentFields.partial().shape, resolved: z.boolean().optional() }),
    Comment,
    ['forbidden'],
  ),
  'comments.apply': post(
    '/comments/{comment_id}/apply',
    'member_human',
    'Commit the change that a comment suggests to the branch of its task, and resolve the comment.',
    z.object({ comment_id: CommentId }),
    Comment,
    200,
    [
      'work_changed',
      'workspace_locked',
      'task_terminal',
      'not_claimable',
      'entry_barrier',
      'workspace_failed',
      'repository_missing',
      'branch_missing',
    ],
  ),
  'comments.delete': del(
    '/comments/{comment_id}',
    'member',
    'Delete your comment, with the answers to it.',
    z.object({ comment_id: CommentId }),
    ['forbidden'],
  ),
} as const
