import type { BaseConflict } from '../../src-shared/contract/overlaps.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { BaseConflictQueries } from '../ports/base-conflict-queries.ts'

/** They are read from the repositories at each start, so they are kept in memory alone. */
export function createBaseConflictQueries(): BaseConflictQueries {
  const byTask = new Map<TaskId, BaseConflict>()
  return {
    of: (task_id) => byTask.get(task_id) ?? null,
    put: (task_id, conflict) => {
      if (conflict === null) byTask.delete(task_id)
      else byTask.set(task_id, conflict)
    },
    tasks: () => [...byTask.keys()],
  }
}
