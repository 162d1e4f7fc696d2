import { z } from 'zod'
import { Chapters, maxProposedChapters, ProposedChapter } from '../chapters.ts'
import { TaskId, Timestamp } from '../ids.ts'
import { get, list, post } from '../operation.ts'
import { BranchCommit, CommitName, Diff, diffScopes, ViewedContent } from '../workspaces.ts'

/** A task's changes, and what each reader has viewed. */
export const diffsOperations = {
  'tasks.diff': get(
    '/tasks/{task_id}/diff',
    'member',
    'What changed in the worktree: uncommitted, or on the whole branch.',
    z.object({
      task_id: TaskId,
      scope: z.enum(diffScopes).default('uncommitted'),
      path: z.string().optional(),
      ignore_whitespace: z.boolean().optional().describe('Leave out what differs in white space only.'),
      since_attempt: z
        .int()
        .min(1)
        .optional()
        .describe('Compare with the commit that this review attempt judged; with the base where that is gone.'),
      since_commit: CommitName.optional().describe('Compare with this commit; with the base where that is gone.'),
      commit: CommitName.optional().describe(
        'Only what this commit of the branch changed, against its first parent, whatever `scope` and `since_…`.',
      ),
      unseen: z
        .boolean()
        .optional()
        .describe(
          'Only what the caller has not marked as viewed of the whole branch, whatever else is asked but `path`.',
        ),
    }),
    Diff,
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.chapters': get(
    '/tasks/{task_id}/chapters',
    'member',
    'The whole branch’s changes, divided into chapters to read one after the other, and what to look at closely.',
    z.object({ task_id: TaskId }),
    Chapters,
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.propose_chapters': post(
    '/tasks/{task_id}/chapters',
    'task_worker',
    'Divide the whole branch’s changes into chapters in words of your own, each hunk in exactly one. They are shown as ' +
      'your words, and for this tree only; what is folded, and what is a risk, the rules say.',
    z.object({
      task_id: TaskId,
      tree: z.string().min(1).max(100).describe('The `tree` of the chapters that were read.'),
      chapters: z.array(ProposedChapter).min(1).max(maxProposedChapters),
    }),
    Chapters,
    200,
    ['chapters_incomplete', 'work_changed', 'workspace_failed', 'repository_missing'],
  ),
  'tasks.commits': get(
    '/tasks/{task_id}/commits',
    'member',
    'The commits of the task’s branch since it left its base, newest first, at most 500.',
    z.object({ task_id: TaskId }),
    list(BranchCommit),
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.watch_diff': post(
    '/tasks/{task_id}/diff/watch',
    'member_human',
    'Send `worktree.changed` events for this worktree for one minute. Call again to keep watching.',
    z.object({ task_id: TaskId }),
    z.object({
      until: Timestamp.nullable().describe('null when there is no worktree now; `workspace.updated` tells of one.'),
      since: Timestamp.nullable().describe(
        'From when on no change was missed. When it differs from the last answer’s, read the diff again.',
      ),
    }),
  ),
  'tasks.mark_viewed': post(
    '/tasks/{task_id}/diff/viewed',
    'member_human',
    'Tick changed files or hunks off for the caller, or take the ticks back. A file’s tick is that of all its hunks, and a hunk’s falls when its lines change.',
    z
      .object({
        task_id: TaskId,
        files: z.array(ViewedContent).max(500).default([]).describe('As the diff that was looked at names them.'),
        hunks: z
          .array(z.string().regex(/^[0-9a-f]{32}$/, 'Give the id of a hunk.'))
          .max(5_000)
          .default([])
          .describe('As the chapters name them; those that the work no longer has are left out.'),
        viewed: z.boolean(),
      })
      .refine(({ files, hunks }) => files.length + hunks.length > 0, {
        path: ['files'],
        message: 'Send at least one file or hunk.',
      }),
    z.null(),
    204,
    ['workspace_failed', 'repository_missing'],
  ),
} as const
