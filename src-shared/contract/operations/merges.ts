import { z } from 'zod'
import { TaskId } from '../ids.ts'
import { BranchUpdate, conflictAnswers, MergeConflicts, updateStrategies } from '../merges.ts'
import { get, post } from '../operation.ts'
import { Task } from '../tasks.ts'

export const mergesOperations = {
  'tasks.conflicts': get(
    '/tasks/{task_id}/conflicts',
    'member',
    'What a merge of the task’s branch would conflict in now; what is not committed is left out.',
    z.object({ task_id: TaskId }),
    MergeConflicts,
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.update_branch': post(
    '/tasks/{task_id}/update_branch',
    'member_human',
    'Bring the base branch into the task’s branch. Uncommitted work is committed first.',
    z.object({
      task_id: TaskId,
      strategy: z.enum(updateStrategies).default('merge'),
      base_branch: z
        .string()
        .min(1)
        .max(250)
        .optional()
        .describe('Another branch of the repository, which is the task’s base from then on; for one that was renamed.'),
      on_conflict: z
        .enum(conflictAnswers)
        .default('report')
        .describe(
          '`report`: change nothing. `agent`: let the coder resolve it. `editor`: leave a merge with markers in the worktree.',
        ),
    }),
    BranchUpdate,
    200,
    [
      'merge_conflict',
      'workspace_locked',
      'workspace_failed',
      'branch_missing',
      'repository_missing',
      'task_terminal',
      'not_claimable',
      'already_claimed',
      'agent_paused',
      'project_paused',
      'entry_barrier',
      'version_conflict',
      'transition_blocked',
    ],
  ),
  'tasks.unmerge': post(
    '/tasks/{task_id}/unmerge',
    'member_human',
    'Undo the merge of a task within 10 minutes: its base branch moves back, and it returns to the gate that it passed, still passed. Refused with `unmerge_too_late` (`details.reason`) once the base has newer commits or a remote has the merge.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task }),
    200,
    ['unmerge_too_late', 'invalid_transition', 'merge_target_dirty', 'workspace_failed', 'repository_missing'],
  ),
  'tasks.revert': post(
    '/tasks/{task_id}/revert',
    'member_human',
    'Create a task whose branch reverts the merge of this one. It goes to the gate that this one passed, and lands as any other; a conflict goes to its coder.',
    z.object({ task_id: TaskId, reason: z.string().trim().min(1).max(10_000).optional() }),
    Task,
    201,
    ['nothing_to_revert', 'workspace_failed', 'branch_missing', 'repository_missing'],
  ),
} as const
