import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { RecoveryAction } from '../../src-shared/contract/tasks.ts'
import { limitRefusal } from '../executions/rules/limits.ts'
import { isPerson } from '../domain/transition/audience.ts'
import { hasTrait, roleOf } from '../domain/workflow/graph.ts'
import { authorityRefusal } from '../core/authority.ts'
import type { Tx } from '../core/event-feed.ts'
import { isMessage, lastRun, nextMessage } from '../executions/messages.ts'
import { enqueueExecution, type NewExecution } from '../executions/enqueue-execution.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Refuses a recovery action that the task's error does not name. */
export function checkRecovery(task: TaskRecord, action: RecoveryAction): Refusal | null {
  const offered = task.error_annotation?.recovery_actions ?? []
  if (offered.includes(action)) return null
  const what = offered.length > 0 ? `Possible now: ${offered.join(', ')}.` : 'Nothing to recover.'
  return {
    code: 'recovery_not_available',
    message: `${action} does not apply to this task. ${what}`,
    details: { recovery_actions: offered },
  }
}

/** Returns the state, reachable from the current one, whose entry merges. */
export function mergeStateFrom(deps: StepServices, tx: Pick<Tx, 'projects'>, task: TaskRecord): string | null {
  const workflow = deps.transitions.workflowOf(tx, task)
  const targets = workflow.states.get(task.status)?.transitions ?? []
  return (
    targets.find(({ to }) => {
      const state = workflow.states.get(to)
      return state !== undefined && hasTrait(workflow, state, 'merges')
    })?.to ?? null
  )
}

/** Starts another run for the role of the current state; `nobody` if the state has no role (a blocked task). */
export function restartExecution(
  deps: StepServices,
  tx: Tx,
  task: TaskRecord,
  resume: boolean,
  triggered_by: string,
): 'queued' | 'nobody' | Refusal {
  const state = deps.transitions.workflowOf(tx, task).states.get(task.status)
  const role = state && roleOf(state)
  const assignee = role ? task.roles[role] : undefined
  if (!state || !role || !assignee) return 'nobody'
  const waiting = nextMessage(tx, task.id, role)
  if (tx.executions.openOfTask(task.id).some((one) => !isMessage(one)))
    return { code: 'already_claimed', message: 'Someone is already working on this task.' }
  if (assignee.type === 'agent' && !tx.agents.get(assignee.id))
    return { code: 'not_claimable', message: `The agent assigned as ${role} was deleted. Assign another.` }
  const agent = assignee.type === 'agent' ? tx.agents.get(assignee.id) : null
  const held = authorityRefusal(deps.context, task, agent)
  if (held) return held
  const reached = deps.limits.reached(tx, task, agent)
  if (reached) return limitRefusal(reached)
  const again = (): NewExecution => ({
    task,
    role,
    assignee,
    // Repeat the overrides of the run that ended, so that a person's feedback is not lost with it.
    overrides: { ...lastRun(tx, task.id, role)?.overrides, stalls: undefined },
    resume,
    dispatched: true,
  })
  // A message that a person has written since continues the work instead.
  const record = waiting ?? enqueueExecution(deps.context, tx, again())
  tx.saveTask({
    ...task,
    active_execution_id: record.id,
    error_annotation: null,
    ...(isPerson(triggered_by) && { last_human_action_id: deps.context.newId() }),
  })
  return 'queued'
}
