import { z } from 'zod'
import { ProjectId, RepoId, TaskTemplateId, Timestamp } from './ids.ts'
import { Assignee, TaskFields } from './tasks.ts'

/** The fields of a task template that clients set, shared by its creation and its change. */
export const TaskTemplateFields = z.object({
  name: z.string().trim().min(1).max(100).describe('No other template of the project has it, in capitals or not.'),
  title: z.string().max(500).describe('What the title of a new task begins with.'),
  description: TaskFields.shape.description
    .nullable()
    .describe('A template has no files: where the text names one (`attachment:<id>`), that is left out.'),
  priority: TaskFields.shape.priority,
  labels: TaskFields.shape.labels,
  review_config: TaskFields.shape.review_config.describe('What is left out is that of the project.'),
  roles: z.record(z.string().min(1).max(60), Assignee).describe('Who gets which role of the workflow.'),
  repo_id: RepoId.nullable().describe('null: the primary one.'),
})

/** A template of new tasks in a project. */
export const TaskTemplate = z
  .object({
    id: TaskTemplateId,
    project_id: ProjectId,
    name: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    priority: z.int().min(0).max(4),
    labels: z.array(z.string()),
    review_config: TaskFields.shape.review_config,
    roles: z.record(z.string(), Assignee),
    repo_id: RepoId.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'TaskTemplate' })
export type TaskTemplate = z.infer<typeof TaskTemplate>
