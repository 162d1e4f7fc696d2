import type { Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { changesAreOff } from '../../../formatters/changes-are-off.ts'

/** Why an action is not to be had now; null where it is. */
export interface CardActions {
  readonly start: string | null
  readonly stop: string | null
  readonly review: string | null
  /** Of everything that changes a task which has not ended. */
  readonly cancel: string | null
  readonly archive: string | null
}

/** What may be done with a card, as far as the page can tell; the service has the last word. */
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
