import { z } from 'zod'
import { Execution, LogFile } from '../executions.ts'
import { TaskId } from '../ids.ts'
import { get, list, post, read, slice } from '../operation.ts'
import { Review } from '../reviews.ts'
import { Task, TransitionEntry } from '../tasks.ts'
import { Workspace } from '../workspaces.ts'

/** A task's records, and what its work has left on the disk. */
export const taskRecordsOperations = {
  'tasks.transitions': get(
    '/tasks/{task_id}/transitions',
    'member',
    'The task’s audit, oldest first.',
    z.object({ task_id: TaskId }),
    list(TransitionEntry),
  ),
  'tasks.reviews': get(
    '/tasks/{task_id}/reviews',
    'member',
    'Every review attempt, newest first.',
    z.object({ task_id: TaskId }),
    list(Review),
  ),
  'tasks.executions': get(
    '/tasks/{task_id}/executions',
    'member',
    'Every execution, newest first.',
    z.object({ task_id: TaskId }),
    list(Execution),
  ),
  'tasks.workspace': get(
    '/tasks/{task_id}/workspace',
    'member',
    'The task’s worktree; 404 before the first claim.',
    z.object({ task_id: TaskId }),
    Workspace,
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.reset_workspace': post(
    '/tasks/{task_id}/workspace/reset',
    'member_human',
    'Start over from the base branch when the worktree and its branch are gone.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task, workspace: Workspace }),
    200,
    ['reset_not_required'],
  ),
  'tasks.logs': get(
    '/tasks/{task_id}/logs',
    'member',
    'All logs of a task.',
    z.object({ task_id: TaskId }),
    list(LogFile),
  ),
  'tasks.read_log': read(
    '/tasks/{task_id}/logs/{name}',
    'A piece of one of the task’s logs.',
    z.object({ task_id: TaskId, name: z.string(), ...slice() }),
  ),
} as const
