import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { BranchUpdate, MergeConflicts } from '../../../src-shared/contract/merges.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { useClient } from '../base/client.ts'
import { useExecutions } from '../runs/executions.ts'
import { useTasks } from '../tasks/tasks.ts'

export type UpdateStrategy = BranchUpdate['strategy']

/** What a merge of base and branch cannot do by itself. `left`: it is begun in the worktree, with its markers. */
export interface Conflict {
  readonly files: readonly string[]
  readonly hunks: readonly ConflictHunk[]
  readonly left: boolean
}

/** The conflict that a refusal tells of; null when it refuses for another reason. */
export function conflictIn(error: unknown): Conflict | null {
  if (!(error instanceof ApiError) || error.code !== 'merge_conflict') return null
  // The details are those of the service's own refusal; a schema here would bring its whole library into the first page.
  const { files, hunks, left } = (error.details ?? {}) as Partial<Conflict>
  if (!Array.isArray(files) || !Array.isArray(hunks)) return { files: [], hunks: [], left: false }
  return { files, hunks, left: left === true }
}

/** What keeps a task's branch up with its base. */
export function useBranchUpdates() {
  const client = useClient()
  const tasks = useTasks()
  const executions = useExecutions()
  return {
    /** What the branch would conflict in now. */
    conflicts: (taskId: string): Promise<MergeConflicts> => client.call('tasks.conflicts', { task_id: taskId }),
    /**
     * Brings what the base has by now into the branch; `onConflict` says who resolves what git cannot. Another `base` is
     * the task's from then on.
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
