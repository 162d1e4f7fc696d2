import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { BaseConflict } from '../../src-shared/contract/overlaps.ts'

/** What merges of tasks into their bases would meet, as last read; kept in memory. */
export interface BaseConflictQueries {
  /** Returns null if the merge would be clean, and while that is not known. */
  of(task_id: TaskId): BaseConflict | null
  put(task_id: TaskId, conflict: BaseConflict | null): void
  tasks(): readonly TaskId[]
}
