import { z } from 'zod'
import { ProjectId, TaskId } from '../ids.ts'
import { hookEvents, HookRun, LifecycleHook, PluginInfo } from '../lifecycle-hooks.ts'
import { get, list, post } from '../operation.ts'

/** A project's hooks, and the results of their runs. */
export const hooksOperations = {
  'plugins.list': get(
    '/plugins',
    'anyone',
    'The built-in plugins: where each may stand, and its options.',
    z.object({}),
    list(PluginInfo),
  ),
  'tasks.hook_runs': get(
    '/tasks/{task_id}/hooks',
    'member',
    'The runs of hooks for a task, newest first, with those that are under way.',
    z.object({ task_id: TaskId, limit: z.int().min(1).max(500).default(200) }),
    list(HookRun),
  ),
  'projects.test_hook': post(
    '/projects/{project_id}/hooks/test',
    'owner',
    'Run one hook for real in a throw-away worktree of the task’s branch, or of the default branch; nothing else changes.',
    z.object({
      project_id: ProjectId,
      event: z.enum(hookEvents),
      hook: LifecycleHook,
      task_id: TaskId.optional(),
    }),
    HookRun,
  ),
} as const
