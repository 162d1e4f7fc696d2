import type { ProjectId, TaskTemplateId } from '../../src-shared/contract/ids.ts'
import type { TaskTemplate } from '../../src-shared/contract/task-templates.ts'

export type TaskTemplateRecord = TaskTemplate

/** Starting points for new tasks. */
export interface TaskTemplateQueries {
  get(id: TaskTemplateId): TaskTemplateRecord | null
  /** Ordered by name, case-insensitively. */
  ofProject(project_id: ProjectId): readonly TaskTemplateRecord[]
  put(record: TaskTemplateRecord): void
  delete(id: TaskTemplateId): void
}
