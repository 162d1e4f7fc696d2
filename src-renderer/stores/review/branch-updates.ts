import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { BranchUpdate, MergeConflicts } from '../../../src-shared/contract/merges.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { useClient } from '../base/client.ts'
import { useExecutions } from '../runs/executions.ts'
import { useTasks } from '../tasks/tasks.ts'

export type UpdateStrategy = BranchUpdate['strategy']

/**
 * The conflict of a merge of base and branch. `left`: the merge is in progress in the worktree,
 * with conflict markers.
 */
export interface Conflict {
  readonly files: readonly string[]
  readonly hunks: readonly ConflictHunk[]
  readonly left: boolean
  /** What moved the base in each file; absent if unknown. */
  readonly base_changes?: MergeConflicts['base_changes']
}

/** Returns the conflict in a refusal; null if it refuses for another reason. */
export function conflictIn(error: unknown): Conflict | null {
  if (!(error instanceof ApiError) || error.code !== 'merge_conflict') return null
  // The details are those of the service's own refusal; a schema would add its library to the first page.
  const { files, hunks, left } = (error.details ?? {}) as Partial<Conflict>
  if (!Array.isArray(files) || !Array.isArray(hunks)) return { files: [], hunks: [], left: false }
  return { files, hunks, left: left === true }
}

/** Operations that update a task's branch from its base. */
export function useBranchUpdates() {
  const client = useClient()
  const tasks = useTasks()
  const executions = useExecutions()
  return {
    /** Returns the conflicts that a merge would have now. */
    conflicts: (taskId: string): Promise<MergeConflicts> => client.call('tasks.conflicts', { task_id: taskId }),
    /**
     * Merges or rebases the branch onto its base. `onConflict` names who resolves conflicts. A
     * given `base` becomes the task's new base.
     */
    update: async (
      taskId: string,
      strategy: UpdateStrategy,
      onConflict: NonNullable<OperationInput<'tasks.update_branch'>['on_conflict']>,
      base?: string,
    ): Promise<BranchUpdate> => {
      const request = { task_id: taskId, strategy, on_conflict: onConflict }
      const reply = await client.call(
        'tasks.update_branch',
        base === undefined ? request : { ...request, base_branch: base },
      )
      tasks.put(reply.task)
      if (reply.execution) executions.put(reply.execution)
      return reply
    },
  }
}
