import type { Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { changesAreOff } from '../../../formatters/changes-are-off.ts'

/** The reason why each action is unavailable; null if it is available. */
export interface CardActions {
  readonly start: string | null
  readonly stop: string | null
  readonly review: string | null
  /** Applies to every change of an unfinished task. */
  readonly cancel: string | null
  readonly archive: string | null
}

/** Returns the actions of a card as far as the renderer knows; the service decides. */
export function actionsOf(
  task: Task,
  state: WorkflowState | undefined,
  worker: string | null,
  offline: boolean,
): CardActions {
  const off = offline ? changesAreOff : null
  const ended = state?.kind === 'terminal' ? 'This task is finished' : null
  const atWork = task.active_execution_id === null ? null : `${worker ?? 'Someone'} is already working on this`
  const startable = state?.kind === 'backlog' || state?.kind === 'initial' || state?.kind === 'active'
  return {
    start: off ?? ended ?? atWork ?? (startable || state === undefined ? null : `Can’t start from ${state.label}`),
    stop: off ?? (task.active_execution_id === null ? 'No agent is running' : null),
    review: task.review_summary === null && state?.kind !== 'gate' ? 'Nothing to review yet' : null,
    cancel: off ?? ended,
    archive: off ?? (ended === null ? 'Finish or cancel the task first' : null),
  }
}
