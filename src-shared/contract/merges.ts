import { z } from 'zod'
import { ConflictHunk } from './conflicts.ts'
import { Execution } from './executions.ts'
import { Task } from './tasks.ts'

/** What prevents the merge of a task's branch, as branch and base are now. */
export const MergeConflicts = z
  .object({
    branch: z.string(),
    head_commit: z.string(),
    base_branch: z.string(),
    base_commit: z.string(),
    files: z.array(z.string()).describe('Empty when the branch would merge without a conflict.'),
    hunks: z.array(ConflictHunk),
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
