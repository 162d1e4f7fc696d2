import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'

export interface TaskFilter {
  readonly project_id: ProjectId
  readonly status: string | null
  readonly q: string | null
  readonly label: string | null
  readonly assignee: string | null
  readonly parent_id: TaskId | null
  readonly include_archived: boolean
  /** Position and ID of the last task of the page before. */
  readonly after: { readonly position: number; readonly id: TaskId } | null
  readonly limit: number
}
