import type { PluginResult } from '../core/plugin-result.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { openPull, type OpenWish } from './open-pull.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

/** Opens or updates the pull request of a task at its gate. What is in the way is shown on the task, which stays. */
export async function openAtGate(
  deps: PullRequestDeps,
  task_id: TaskRecord['id'],
  wish: OpenWish,
  triggered_by: string,
  signal: AbortSignal,
): Promise<PluginResult> {
  const opened = await openPull(deps, task_id, wish, triggered_by, signal)
  if (!isRefusal(opened)) {
    const { number, head } = opened.record
    return { kind: 'ok', note: `#${number} ${opened.created ? 'opened' : 'updated'}, at ${head.slice(0, 12)}` }
  }
  return {
    kind: 'held',
    annotation: {
      type: 'hook_failed',
      message: opened.message,
      recovery_actions: ['retry_hook'],
    },
  }
}
