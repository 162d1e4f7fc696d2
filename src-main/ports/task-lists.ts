import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'

export interface TaskFilter {
  readonly project_id: ProjectId
  readonly status: string | null
  readonly q: string | null
  readonly label: string | null
  readonly assignee: string | null
  readonly parent_id: TaskId | null
  readonly include_archived: boolean
  /** The position and id of the last task of the page before. */
  readonly after: { readonly position: number; readonly id: TaskId } | null
  readonly limit: number
}

/** As much of a task as says where a board shows it. */
export interface TaskPlace {
  readonly id: TaskId
  readonly status: string
  readonly updated_at: string
  /** Something works on it, or holds it up. */
  readonly pressing: boolean
}
