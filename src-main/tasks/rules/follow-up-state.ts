import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workflow } from '../../domain/workflow/graph.ts'

export interface FollowUpFacts {
  readonly workflow: Workflow
  readonly status: string
  /** The audit, oldest first. */
  readonly audit: readonly { readonly from_state: string }[]
}

/**
 * Returns the state whose role gets feedback: the current one if it is active, else the gate's reject target, else the
 * state in which the work was done.
 */
export function followUpState({ workflow, status, audit }: FollowUpFacts): WorkflowState | Refusal {
  const state = workflow.states.get(status)
  if (!state) return notClaimable(`The workflow has no state ${status}; move the task first.`)
  if (state.kind === 'terminal') {
    return { code: 'task_terminal', message: 'This task is finished. Create a new one for the rest.' }
  }
  if (state.kind === 'backlog' || state.kind === 'initial') {
    return notClaimable('No one has started this task. Add it to the description, then start the task.')
  }
  const ownWorkState = workStateAt(workflow, state)
  if (ownWorkState) return ownWorkState
  if (state.kind === 'gate') {
    return notClaimable(`${state.label} has no state to send the work back to. Approve or request changes instead.`)
  }
  for (const { from_state } of audit.toReversed()) {
    const left = workflow.states.get(from_state)
    const work = left && workStateAt(workflow, left)
    if (work) return work
  }
  return notClaimable('No one has worked on this task yet. Start it first.')
}

/** Returns an active state itself, or a gate's reject target. */
function workStateAt(workflow: Workflow, state: WorkflowState): WorkflowState | null {
  if (state.kind === 'active') return state
  const target = state.kind === 'gate' ? state.gate_config?.reject_target : undefined
  const back = target === undefined ? undefined : workflow.states.get(target)
  return back?.kind === 'active' ? back : null
}

function notClaimable(message: string): Refusal {
  return { code: 'not_claimable', message }
}
