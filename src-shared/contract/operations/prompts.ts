import { z } from 'zod'
import { ExecutionId, ProjectId, TaskId } from '../ids.ts'
import { get, post } from '../operation.ts'
import { Prompt, PromptTemplate } from '../prompts.ts'
import { Assignee } from '../tasks.ts'
import { NewTaskFields } from './tasks.ts'

const role = z.string().max(60).optional().describe('The role that is next to work, when absent.')

/** Prompts of agents, before and after their start. */
export const promptsOperations = {
  'tasks.prompt': get(
    '/tasks/{task_id}/prompt',
    'member',
    'The prompt that an agent of a role would get if it started on the task now, by part.',
    z.object({ task_id: TaskId, role }),
    Prompt,
    ['unknown_role'],
  ),
  'tasks.try_template': post(
    '/tasks/{task_id}/prompt',
    'member_human',
    'The same with a template that the project does not have yet; null for the built-in one. Nothing is kept.',
    z.object({ task_id: TaskId, role, template: PromptTemplate.nullable() }),
    Prompt,
    200,
    ['unknown_role'],
  ),
  'tasks.draft_prompt': post(
    '/projects/{project_id}/prompt',
    'member_human',
    'The prompt that an agent of a role would get for a task that is still being written. Nothing is stored.',
    z.object({
      project_id: ProjectId,
      ...NewTaskFields.shape,
      role,
      roles: z.record(z.string().min(1).max(60), Assignee).optional().describe('Who is to get which role.'),
      dependencies: z.array(TaskId).max(100).optional().describe('The tasks that it is to wait for.'),
    }),
    Prompt,
    200,
    ['unknown_role', 'task_terminal', 'cross_project_dependency', 'not_a_member', 'forbidden'],
  ),
  'executions.prompt': get(
    '/executions/{execution_id}/prompt',
    'member',
    'The prompt of a run (`execution`), by part; while it is queued, without the parts added at its start.',
    z.object({ execution_id: ExecutionId }),
    Prompt,
  ),
} as const
