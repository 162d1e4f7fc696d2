import { z } from 'zod'
import { ProjectId, TaskId, TaskTemplateId } from '../ids.ts'
import { del, get, list, patch, post } from '../operation.ts'
import { TaskTemplate, TaskTemplateFields } from '../task-templates.ts'

const refusals = ['unknown_role', 'not_a_member', 'forbidden'] as const

/** Templates of new tasks, which members maintain in their project; agents read them. */
export const taskTemplatesOperations = {
  'task_templates.list': get(
    '/projects/{project_id}/task_templates',
    'member',
    'The task templates of a project, by name.',
    z.object({ project_id: ProjectId }),
    list(TaskTemplate),
  ),
  'task_templates.create': post(
    '/projects/{project_id}/task_templates',
    'member_human',
    'Save a task template. A new task takes from it what its writer leaves open.',
    z.object({
      project_id: ProjectId,
      ...TaskTemplateFields.partial().shape,
      name: TaskTemplateFields.shape.name,
      task_id: TaskId.optional().describe('A task of the project, from which it has what is left out here.'),
    }),
    TaskTemplate,
    201,
    refusals,
  ),
  'task_templates.get': get(
    '/task_templates/{template_id}',
    'member',
    'One task template.',
    z.object({ template_id: TaskTemplateId }),
    TaskTemplate,
  ),
  'task_templates.update': patch(
    '/task_templates/{template_id}',
    'member_human',
    'Rename or edit a task template.',
    z.object({ template_id: TaskTemplateId, ...TaskTemplateFields.partial().shape }),
    TaskTemplate,
    refusals,
  ),
  'task_templates.delete': del(
    '/task_templates/{template_id}',
    'member_human',
    'Delete a task template. Tasks made from it stay as they are.',
    z.object({ template_id: TaskTemplateId }),
  ),
} as const
