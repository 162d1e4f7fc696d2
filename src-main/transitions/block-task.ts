import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import { rejectFrom } from '../domain/review/decide-verdict.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { cancelQueued } from '../core/execution-records.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { countRejections } from './count-rejections.ts'
import { closeOpenReview } from './review-attempts.ts'
import type { Transitions } from './transitions.ts'
import { toReviewSummary } from '../core/views.ts'

export interface BlockDeps {
  readonly context: Ground
  readonly transitions: Transitions
}

/** Worktree and branch of a task are both gone, so only a person may start it over. */
export const resetRequired: ErrorAnnotation = {
  type: 'workspace_reset_required',
  message: 'The worktree and branch are missing. Reset the workspace to start over from the base branch.',
  recovery_actions: [],
}

/**
 * Moves a task to the state for blocked tasks; if the workflow has none, the task stays in its state, with the error.
 */
export function blockTask(
  deps: BlockDeps,
  tx: Tx,
  task: TaskRecord,
  annotation: ErrorAnnotation,
  /** Number of cascades that led to this move. */
  depth = 0,
): void {
  const { blocked } = deps.transitions.workflowOf(tx, task)
  const patch = { error_annotation: annotation, active_execution_id: null }
  for (const execution of tx.executions.openOfTask(task.id)) {
    if (execution.status === 'queued') cancelQueued(tx, execution, annotation.message)
  }
  if (blocked && task.status !== blocked.name) {
    const moved = deps.transitions.apply(tx, task, {
      to: blocked.name,
      cause: 'escalate',
      triggered_by: 'system',
      version: null,
      reason: annotation.message,
      depth,
      patch,
    })
    if (!isRefusal(moved)) return
  }
  // A task that stays in its state makes no transition, so its open review must be closed here.
  const review = closeOpenReview(tx, task, true)
  const review_summary = review && toReviewSummary(review)
  tx.saveTask({ ...task, ...patch, review_summary, entry_barrier: false })
}

export interface FailedReview {
  readonly triggered_by: string
  readonly feedback: string | null
  /** A rejection by a person never uses up the retry budget. */
  readonly by_person: boolean
  /** The results of the gate's `before_exit` hooks if they have already run. */
  readonly checked?: readonly HookOutcome[]
  /** Number of cascades that led to this rejection; one that a gate's own hook causes adds one. */
  readonly depth?: number
  /** The gate that rejected; default: the state of the task. */
  readonly gate?: string
}

/** Maximum length of a chain of cascades, so that two hooks can't send a task back and forth for ever. */
export const maxCascades = 3

/**
 * Applies a gate's rejection: the task goes back to its reject target with the feedback, or to a person once the retry
 * budget is used up or the task goes in circles without a run between.
 */
export function applyFailedReview(deps: BlockDeps, tx: Tx, task: TaskRecord, request: FailedReview): void {
  const workflow = deps.transitions.workflowOf(tx, task)
  const gate = workflow.states.get(request.gate ?? task.status)
  if (!gate) return
  const rejections = countRejections(tx, workflow, task, gate)
  const plan = rejectFrom(gate, { by_person: request.by_person, rejections })
  const { depth = 0 } = request
  if (!isRefusal(plan) && plan.kind === 'reject' && depth <= maxCascades) {
    const { triggered_by, feedback, checked } = request
    const back = { to: plan.to, cause: 'reject', triggered_by, version: null, reason: feedback, depth } as const
    // A gate that the task had passed must be passed again.
    const patch = request.gate === undefined ? {} : { patch: { review_passed_at: null } }
    deps.transitions.apply(tx, task, { ...back, ...patch, ...(checked && { checked }) })
    return
  }
  const why = request.feedback === null ? {} : { reason: request.feedback.slice(0, 10_000) }
  const problem = isRefusal(plan)
    ? noWayBack(gate)
    : plan.kind === 'escalate'
      ? reviewLimitReached(gate, gate.gate_config?.max_rejections ?? 0)
      : loopAnnotation(gate)
  blockTask(deps, tx, task, { ...problem, ...why }, depth)
}

/** The error for a gate that has sent the work back as often as the retry budget allows. */
export function reviewLimitReached(gate: WorkflowState, times: number): ErrorAnnotation {
  return {
    type: 'retry_budget_exhausted',
    message: `${gate.label} failed ${times} times. Read why, then move the task.`,
    recovery_actions: [],
  }
}

function loopAnnotation(gate: WorkflowState): ErrorAnnotation {
  const message = `${gate.label} sent the work back, and the workflow returned it unchanged, time after time. Work on it, or move it on yourself.`
  return { type: 'retry_budget_exhausted', message, recovery_actions: [] }
}

function noWayBack(gate: WorkflowState): ErrorAnnotation {
  const message = `${gate.label} said no, and its workflow names no state to send the work back to. Move it yourself.`
  return { type: 'hook_failed', message, recovery_actions: [] }
}
