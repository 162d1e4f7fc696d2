import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'

/** Worktrees that overlap, as last read; kept in memory. */
export interface OverlapQueries {
  ofProject(project_id: ProjectId): readonly Overlap[]
  /** The tasks that would conflict with this one. */
  conflictsOf(task_id: TaskId): readonly TaskId[]
  replace(project_id: ProjectId, items: readonly Overlap[]): void
}
