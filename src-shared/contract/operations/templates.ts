import { z } from 'zod'
import { ProjectId } from '../ids.ts'
import { del, get, list, post, put } from '../operation.ts'
import { Project } from '../projects.ts'
import { TemplateName, WorkflowTemplate } from '../workflow-templates.ts'

export const templatesOperations = {
  'templates.list': get(
    '/workflow_templates',
    'anyone',
    'Every workflow template, also those whose file is broken.',
    z.object({}),
    list(WorkflowTemplate),
  ),
  'templates.get': get(
    '/workflow_templates/{name}',
    'anyone',
    'One workflow template.',
    z.object({ name: TemplateName }),
    WorkflowTemplate,
  ),
  'templates.put': put(
    '/workflow_templates/{name}',
    'admin',
    'Write a workflow template; projects that applied it before stay as they are.',
    z.object({
      name: TemplateName,
      description: z.string().max(1_000).optional(),
      definition: z.record(z.string(), z.unknown()),
    }),
    WorkflowTemplate,
    ['workflow_invalid'],
  ),
  'templates.delete': del(
    '/workflow_templates/{name}',
    'admin',
    'Delete a workflow template.',
    z.object({ name: TemplateName }),
    ['template_protected'],
  ),
  'templates.apply': post(
    '/workflow_templates/{name}/apply',
    'owner',
    'Copy a template into a project; later edits of the template do not reach it.',
    z.object({ name: TemplateName, project_id: ProjectId }),
    Project,
    200,
    ['workflow_invalid', 'states_in_use', 'transition_in_use'],
  ),
} as const
