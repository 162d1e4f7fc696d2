import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { ReviewStatus } from '../../../src-shared/contract/reviews.ts'
import type { Assignee } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { isReviewGate, roleOf, type Workflow } from '../workflow/graph.ts'
import { checkJudged, checkSeen, type WorkFacts } from './judged-work.ts'

export interface VerdictFacts {
  readonly workflow: Workflow
  readonly status: string
  readonly entry_barrier: boolean
  readonly roles: Readonly<Record<string, Assignee>>
  readonly latest_review: ReviewStatus | null
  readonly work: Omit<WorkFacts, 'by_person'>
  /** The review has notes that a person must see. */
  readonly has_notes: boolean
  readonly by: Assignee | { readonly type: 'operator' }
  /** The gate's rejections that count against its retry budget. */
  readonly rejections: number
}

export type VerdictPlan =
  | { readonly kind: 'pass_review'; readonly waits_for_person: boolean }
  | { readonly kind: 'forward'; readonly to: string }
  | { readonly kind: 'reject'; readonly to: string }
  | { readonly kind: 'escalate' }

/** Decides what a verdict at the current gate causes, or refuses it. */
export function decideVerdict(verdict: 'pass' | 'fail', facts: VerdictFacts): VerdictPlan | Refusal {
  const gate = facts.workflow.states.get(facts.status)
  if (gate?.kind !== 'gate') return { code: 'not_at_gate', message: "This task isn't in review." }
  const isPerson = facts.by.type !== 'agent'
  const role = roleOf(gate)
  const holder = role === null ? undefined : facts.roles[role]
  if (facts.by.type === 'agent' && !(holder?.type === 'agent' && holder.id === facts.by.id)) {
    return {
      code: 'forbidden',
      message: `Only the agent assigned as ${role ?? 'reviewer'} or a person can decide here.`,
    }
  }
  if (facts.entry_barrier)
    return { code: 'entry_barrier', message: 'Checks are still running. Wait for them to finish.' }
  if (verdict === 'fail') return rejectFrom(gate, { by_person: isPerson, rejections: facts.rejections })
  const waits = (gate.gate_config?.requires_human_approval === true || facts.has_notes) && !isPerson
  const changed = checkSeen(facts.work)
  if (isReviewGate(facts.workflow, gate)) {
    if (facts.latest_review === 'failed' || facts.latest_review === 'cancelled' || facts.latest_review === null) {
      return {
        code: 'review_not_ready',
        message: 'There is no open review to approve. Request changes, or resubmit.',
      }
    }
    const other = changed ?? checkJudged({ ...facts.work, by_person: isPerson })
    return other ?? { kind: 'pass_review', waits_for_person: waits }
  }
  if (changed) return changed
  const next = gate.transitions[0]
  if (waits || !next) return { kind: 'pass_review', waits_for_person: true }
  return { kind: 'forward', to: next.to }
}

/** Decides a gate's rejection: back to its reject target, or to a person once the retry budget is used up. */
export function rejectFrom(
  gate: WorkflowState,
  facts: { readonly by_person: boolean; readonly rejections: number },
): VerdictPlan | Refusal {
  const target = gate.gate_config?.reject_target
  if (target === undefined)
    return { code: 'not_at_gate', message: `${gate.label} has no state to send a rejected task to.` }
  const budget = gate.gate_config?.max_rejections
  if (!facts.by_person && budget !== undefined && facts.rejections >= budget) return { kind: 'escalate' }
  return { kind: 'reject', to: target }
}
