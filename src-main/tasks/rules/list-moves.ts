import type { Assignee, TaskMove } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { ClaimPlan } from './claim-guard.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import { roleOf } from '../../domain/workflow/graph.ts'
import { isRefusal } from '../../domain/refusal.ts'
import { planTransition, type TransitionFacts } from '../../domain/transition/plan-transition.ts'

export interface MoveFacts extends TransitionFacts {
  readonly triggered_by: string
  readonly roles: Readonly<Record<string, Assignee>>
  /** The result of a claim by the most likely claimant. */
  readonly claim: ClaimPlan | Refusal
}

/** Returns for every other state of the workflow how the caller can get the task there, or why not. */
export function listMoves(facts: MoveFacts): readonly TaskMove[] {
  const current = facts.workflow.states.get(facts.status)
  return facts.workflow.definition.states
    .filter((state) => state.name !== facts.status)
    .map((state) => moveTo(facts, current, state))
}

function moveTo(facts: MoveFacts, current: WorkflowState | undefined, to: WorkflowState): TaskMove {
  const base = { to: to.name, label: current?.transitions.find((one) => one.to === to.name)?.label ?? to.label }
  const cause = facts.workflow.cancellation?.name === to.name ? 'cancel' : 'asked'
  const request = { to: to.name, triggered_by: facts.triggered_by, version: null, cause } as const
  const plan = planTransition(request, facts)
  const via = cause === 'cancel' ? 'cancel' : viaFor(facts, current, to)
  if (via === 'claim') {
    const leads = !isRefusal(facts.claim) && facts.claim.path.at(-1) === to.name
    const last = isRefusal(facts.claim) ? undefined : facts.claim.path.at(-1)
    const led = facts.workflow.states.get(last ?? '')?.label ?? 'its present state'
    const reason = leads ? null : isRefusal(facts.claim) ? facts.claim.message : `A claim leads to ${led}.`
    return { ...base, allowed: leads, via, reason }
  }
  if (!isRefusal(plan)) return { ...base, allowed: true, via, reason: null }
  // The other entries of the list say which moves exist.
  const isNoWay = current && current.kind !== 'terminal' && !current.transitions.some((one) => one.to === to.name)
  return {
    ...base,
    allowed: false,
    via,
    reason: isNoWay ? `Tasks can't move from ${current.label} to ${to.label}.` : plan.message,
  }
}

/**
 * A working state is reached by a claim and a reject target by the gate's rejection; all others by a plain
 * transition.
 */
function viaFor(facts: MoveFacts, current: WorkflowState | undefined, to: WorkflowState): TaskMove['via'] {
  if (current?.kind === 'gate' && current.gate_config?.reject_target === to.name) return 'verdict_fail'
  const queued = current?.kind === 'backlog' || current?.kind === 'initial'
  const works = to.kind === 'active' || (to.kind === 'gate' && facts.roles[roleOf(to) ?? ''] !== undefined)
  return queued && works ? 'claim' : 'transition'
}
