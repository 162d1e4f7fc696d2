import { z } from 'zod'
import { ExecutionId, ProjectId, TaskId } from '../ids.ts'
import { Prices, ProjectLimits, TaskLimits } from '../limits.ts'
import { get, post } from '../operation.ts'
import { queueMoves } from '../action-names.ts'
import { ProjectUsage, Queue, UsageSum } from '../queue.ts'

/** Running agents, the queue, and usage. */
export const queueOperations = {
  'projects.queue': get(
    '/projects/{project_id}/queue',
    'member',
    'The executions of agents that run and that wait, each with its turn or the reason why it waits.',
    z.object({ project_id: ProjectId }),
    Queue,
  ),
  'executions.move_in_queue': post(
    '/executions/{execution_id}/move_in_queue',
    'member_human',
    'Move a run (`execution`) that waits among those of its project: one place up or down, or to an end. New ones queue behind it.',
    z.object({ execution_id: ExecutionId, to: z.enum(queueMoves) }),
    Queue,
    200,
    ['not_queued'],
  ),
  'projects.usage': get(
    '/projects/{project_id}/usage',
    'member',
    'Tokens and cost of the project’s executions, as the agents report them.',
    z.object({ project_id: ProjectId }),
    ProjectUsage,
  ),
  'tasks.usage': get(
    '/tasks/{task_id}/usage',
    'member',
    'Tokens and cost of the task’s executions, as the agents report them.',
    z.object({ task_id: TaskId }),
    UsageSum,
  ),
  'projects.limits': get(
    '/projects/{project_id}/limits',
    'member_human',
    'How far the limits of the project are used today, and what each of its agents has used.',
    z.object({ project_id: ProjectId }),
    ProjectLimits,
  ),
  'projects.prices': get(
    '/projects/{project_id}/prices',
    'member',
    'The prices of models: the project’s own (the setting `prices`) and the built-in list, and which one a model has.',
    z.object({ project_id: ProjectId, model: z.string().min(1).max(200).optional() }),
    Prices,
  ),
  'tasks.limits': get(
    '/tasks/{task_id}/limits',
    'member_human',
    'How far the limits are used that hold for a task.',
    z.object({ task_id: TaskId }),
    TaskLimits,
  ),
} as const
