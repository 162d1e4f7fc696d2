import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { LifecycleHooks } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { ReviewStatus } from '../../../src-shared/contract/reviews.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { hasTrait, isReviewGate, type Workflow } from '../workflow/graph.ts'
import { audienceMatches, isPerson } from './audience.ts'
import { hasBarrier, stepsOf, type Step } from './phases.ts'
import { enabledHooks } from './pending-hooks.ts'

/**
 * Hooks that started with a run end with it, so a hook of any of these events requires the step `await_work_stop`.
 */
const workEvents = ['before_work', 'on_work_start', 'on_work_stop'] as const

/**
 * Returns the steps of a transition including the ones of the project's lifecycle hooks; null when there are none. The
 * on_work_stop hooks come before any check of the worktree, and the before_work hooks after it exists.
 */
function lifecycleSteps(
  steps: readonly Step[],
  { from, to }: { readonly from: WorkflowState; readonly to: WorkflowState },
  hooks: LifecycleHooks,
): readonly Step[] | null {
  const stops = from.kind === 'active' && to.kind !== 'terminal' && workEvents.some((event) => hooks[event]?.length)
  const before = to.kind === 'active' ? enabledHooks(hooks, 'before_work') : []
  if (!stops && before.length === 0) return null
  const left = steps.findIndex((step) => step.kind !== 'hook' || step.phase !== 'on_exit')
  const cut = left === -1 ? steps.length : left
  const entering = steps.slice(cut)
  const made = entering.findIndex((step) => step.kind === 'workspace') + 1
  const added: Step[] = before.map((placed) => ({ kind: 'before_work', ...placed }))
  if (added.length > 0) added.push({ kind: 'check_before_work' })
  return [
    ...steps.slice(0, cut),
    ...(stops ? [{ kind: 'await_work_stop' } as const] : []),
    ...entering.slice(0, made),
    ...added,
    ...entering.slice(made),
  ]
}

/**
 * Why a task moves. `asked`: a caller named the target. `forward`: its work is done. `reject`: its gate rejected it.
 * `return`: it did not land and goes back to the gate that it passed, which is not run again. `unmerge`: the same after
 * it had landed; only this leads out of a terminal state. `pull_merged`: its pull request was merged at the forge.
 * `cancel`, `claim`, `escalate` (to a person) and `cascade` (a
 * hook's result).
 */
export type TransitionCause =
  | 'asked'
  | 'forward'
  | 'claim'
  | 'reject'
  | 'return'
  | 'unmerge'
  | 'pull_merged'
  | 'escalate'
  | 'cascade'
  | 'cancel'

export interface TransitionRequest {
  readonly to: string
  readonly cause: TransitionCause
  readonly triggered_by: string
  /** The version that the caller saw; null for automatic moves. */
  readonly version: number | null
}

export interface TransitionFacts {
  readonly workflow: Workflow
  readonly status: string
  readonly version: number
  readonly entry_barrier: boolean
  readonly archived: boolean
  readonly latest_review: ReviewStatus | null
  /** Its work lies in an open pull request, so that only the forge's merge completes it. */
  readonly pull_request_open?: boolean
  /** The project's lifecycle hooks; default: none. */
  readonly hooks?: LifecycleHooks
}

export interface TransitionPlan {
  readonly workflow: Workflow
  readonly from: WorkflowState
  readonly to: WorkflowState
  readonly rejection: boolean
  readonly barrier: boolean
  /** Steps must follow, so an effect is stored with the commit. */
  readonly has_steps: boolean
  /**
   * The steps if they are not just the workflow's, because the project's hooks add to them; stored because the settings
   * may change before they run. Else null.
   */
  readonly own_steps: readonly Step[] | null
  readonly hooks: LifecycleHooks
  readonly opens_review: boolean
}

/** The clean-up of a finished task has removed its worktree. */
const worktreeAnew: readonly Step[] = [{ kind: 'workspace' }, { kind: 'clear_barrier' }]

/**
 * Decides one transition: returns the plan or a refusal. Checks version, graph and audience, barrier, guards, in this
 * order.
 */
export function planTransition(request: TransitionRequest, facts: TransitionFacts): TransitionPlan | Refusal {
  const { workflow } = facts
  const from = workflow.states.get(facts.status)
  if (request.version !== null && request.version !== facts.version) {
    return {
      code: 'version_conflict',
      message: 'This task changed since you loaded it. Reload it and try again.',
      details: { version: facts.version },
    }
  }
  if (!from) return { code: 'invalid_transition', message: `The workflow has no state ${facts.status}.` }
  const isUnmerge = request.cause === 'unmerge'
  if (from.kind === 'terminal' && !isUnmerge)
    return { code: 'task_terminal', message: `The task is finished (${from.label}).` }
  const to = workflow.states.get(request.to)
  const refusal = to ? checkGraph(request, facts, from, to) : noSuchMove(workflow, from, request.to)
  if (refusal) return refusal
  if (!to) return noSuchMove(workflow, from, request.to)
  const { hooks = {} } = facts
  const isReturn = request.cause === 'return' || isUnmerge
  const usual = isReturn ? [] : stepsOf(workflow, from.name, to.name)
  const own_steps = isUnmerge ? worktreeAnew : lifecycleSteps(usual, { from, to }, hooks)
  const steps = own_steps ?? usual
  return {
    workflow,
    from,
    to,
    rejection: request.cause === 'reject',
    barrier: hasBarrier(steps),
    has_steps: steps.length > 0,
    own_steps,
    hooks,
    opens_review: !isReturn && isReviewGate(workflow, to),
  }
}

function checkGraph(
  request: TransitionRequest,
  facts: TransitionFacts,
  from: WorkflowState,
  to: WorkflowState,
): Refusal | null {
  const { workflow } = facts
  if (request.cause === 'cancel') return null
  if (facts.pull_request_open === true && bringsIn(request, workflow, from, to)) return pullRequestOpen
  if (request.cause === 'asked' || request.cause === 'forward') {
    const declared = from.transitions.find((transition) => transition.to === to.name)
    if (!declared) return noSuchMove(workflow, from, to.name)
    if (!audienceMatches(declared.audience, request.triggered_by)) {
      const who = declared.audience === 'user_only' ? 'people' : 'agents'
      return { code: 'audience_mismatch', message: `Only ${who} can move a task from ${from.label} to ${to.label}.` }
    }
  }
  if (request.cause !== 'asked') return null
  if (facts.archived)
    return {
      code: 'invalid_transition',
      message: 'The task is archived. Unarchive it first.',
      details: { allowed: [] },
    }
  if (facts.entry_barrier) {
    return {
      code: 'entry_barrier',
      message: `Hooks for ${from.label} are still running. Wait, or cancel the task.`,
    }
  }
  return checkGate(request, facts, from, to)
}

/** Returns whether a move would complete the task, or merge its work, beside the forge. */
function bringsIn({ cause }: TransitionRequest, workflow: Workflow, from: WorkflowState, to: WorkflowState): boolean {
  if (cause === 'pull_merged') return false
  const isPast = hasTrait(workflow, from, 'awaits_pull_request') && from.transitions[0]?.to === to.name
  return isPast || hasTrait(workflow, to, 'merges')
}

const pullRequestOpen: Refusal = {
  code: 'pull_request_open',
  message: 'The work of this task is in an open pull request. Merge that, or close it first.',
}

/** Refuses a way forward out of a gate whose review has not passed; ways back stay open. */
function checkGate(
  request: TransitionRequest,
  facts: TransitionFacts,
  from: WorkflowState,
  to: WorkflowState,
): Refusal | null {
  if (from.kind !== 'gate' || from.transitions[0]?.to !== to.name) return null
  if (isReviewGate(facts.workflow, from) && facts.latest_review !== 'passed') {
    return {
      code: 'review_not_ready',
      message:
        facts.latest_review === 'running' || facts.latest_review === 'pending'
          ? 'The review is still running. Wait, or decide now.'
          : "The review hasn't passed. Approve it or request changes.",
      details: { review: facts.latest_review },
    }
  }
  if (from.gate_config?.requires_human_approval && !isPerson(request.triggered_by)) {
    return { code: 'review_not_ready', message: `${from.label} requires a person's approval.` }
  }
  return null
}

function noSuchMove(workflow: Workflow, from: WorkflowState, to: string): Refusal {
  const allowed = from.transitions.map((transition) => transition.to)
  if (workflow.cancellation) allowed.push(workflow.cancellation.name)
  const labelOf = (name: string): string => workflow.states.get(name)?.label ?? name
  const ways = allowed.length === 0 ? 'anywhere' : `${labelOf(to)}, only to ${allowed.map(labelOf).join(', ')}`
  return {
    code: 'invalid_transition',
    message: `Tasks can't move from ${from.label} to ${ways}.`,
    details: { allowed },
  }
}
