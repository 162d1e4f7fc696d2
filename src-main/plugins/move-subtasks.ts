import { isRefusal } from '../domain/refusal.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { MoveRequest } from '../transitions/transitions.ts'
import type { PluginContext, PluginServices } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'

/**
 * Moves the unfinished subtasks that `concerns` to a state in one commit, then stops their runs. Running it again
 * completes what a crash left undone.
 */
export async function moveSubtasks(
  services: PluginServices,
  { task, workflow, triggered_by }: PluginContext,
  request: Pick<MoveRequest, 'to' | 'cause' | 'reason'>,
  concerns: (subtask: TaskRecord) => boolean,
): Promise<PluginResult> {
  const { context, transitions } = services
  const move: MoveRequest = { ...request, triggered_by, version: null, patch: { active_execution_id: null } }
  const isFinished = (one: TaskRecord) => workflow.states.get(one.status)?.kind === 'terminal'
  const concerned = context.store.read.tasks.children(task.id).filter(concerns)
  if (concerned.length === 0) return { kind: 'skipped', reason: 'not_needed' }
  const moved = context.feed.commit((tx) =>
    concerned
      .flatMap(({ id }) => tx.tasks.get(id) ?? [])
      .filter((one) => one.status !== request.to && !isFinished(one))
      .filter((one) => {
        const result = transitions.apply(tx, one, move)
        if (isRefusal(result)) context.log.warn({ task_id: one.id, code: result.code }, 'a subtask could not be moved')
        return !isRefusal(result)
      }),
  )
  const there = concerned.filter(({ id }) => context.store.read.tasks.get(id)?.status === request.to)
  const toFollow = there.filter(
    ({ id }) => moved.some((one) => one.id === id) || context.store.read.executions.openOfTask(id).length > 0,
  )
  await Promise.all(toFollow.map(({ id }) => services.follow(id)))
  if (toFollow.length === 0) return { kind: 'skipped', reason: 'not_needed' }
  return { kind: 'ok', note: `${moved.length} of ${concerned.length} subtasks moved` }
}
