import { z } from 'zod'
import { ConflictHunk } from './conflicts.ts'
import { Execution } from './executions.ts'
import { TaskId, Timestamp } from './ids.ts'
import { Task } from './tasks.ts'

/** The last commit on the base that changed a conflicting file since the branch left it. */
export const BaseChange = z
  .object({
    path: z.string(),
    commit: z.string(),
    subject: z.string(),
    author: z.string(),
    committed_at: Timestamp,
    task_id: TaskId.nullable().describe('The task whose merge it is.'),
  })
  .meta({ id: 'BaseChange' })
export type BaseChange = z.infer<typeof BaseChange>

/** What prevents the merge of a task's branch, as branch and base are now. */
export const MergeConflicts = z
  .object({
    branch: z.string(),
    head_commit: z.string(),
    base_branch: z.string(),
    base_commit: z.string(),
    files: z.array(z.string()).describe('Empty when the branch would merge without a conflict.'),
    hunks: z.array(ConflictHunk),
    base_changes: z
      .array(BaseChange)
      .describe(
        'For each of `files`, what moved the base; of at most 100 files, and none for one that only the branch has.',
      ),
  })
  .meta({ id: 'MergeConflicts' })
export type MergeConflicts = z.infer<typeof MergeConflicts>

export const updateStrategies = ['merge', 'rebase'] as const
export const conflictAnswers = ['report', 'agent', 'editor'] as const

export const BranchUpdate = z
  .object({
    outcome: z
      .enum(['updated', 'up_to_date', 'agent', 'editor'])
      .describe('`agent`: its coder got the conflict. `editor`: the conflict is in the worktree’s files.'),
    strategy: z.enum(updateStrategies).describe('`merge` also where a rebase would lose how merges were resolved.'),
    head_commit: z.string(),
    base_commit: z.string(),
    rescue_ref: z.string().nullable().describe('Leads to the commits that a rebase replaced.'),
    path: z.string().describe('The worktree.'),
    files: z.array(z.string()),
    hunks: z.array(ConflictHunk).describe('As many of the conflicting places as fit; `tasks.conflicts` has more.'),
    task: Task,
    execution: Execution.nullable().describe('The follow-up that resolves the conflict.'),
  })
  .meta({ id: 'BranchUpdate' })
export type BranchUpdate = z.infer<typeof BranchUpdate>
