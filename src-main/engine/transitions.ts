import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ReviewId, TransitionId } from '../../src-shared/contract/ids.ts'
import type { Effect } from '../domain/transition/effects.ts'
import {
  isRefusal,
  planTransition,
  type TransitionPlan,
  type TransitionRequest,
} from '../domain/transition/plan-transition.ts'
import { hasPlugin, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import { nowIso, type EngineContext } from './context.ts'
import type { Tx } from './event-feed.ts'
import type { ReviewRecord, TaskRecord } from './store-port.ts'
import { toReviewSummary, toTask } from './views.ts'

export interface MoveRequest extends TransitionRequest {
  readonly reason: string | null
  /** How many cascades led here. */
  readonly depth?: number
  /** Changed on the task in the same write. */
  readonly patch?: Partial<TaskRecord>
}

export interface Moved {
  readonly task: TaskRecord
  readonly transition_id: TransitionId
  readonly review: ReviewRecord | null
  readonly plan: TransitionPlan
}

export interface Transitions {
  workflowOf(tx: Pick<Tx, 'projects'>, task: TaskRecord): Workflow
  plan(tx: Pick<Tx, 'projects' | 'reviews'>, task: TaskRecord, request: TransitionRequest): TransitionPlan | Refusal
  /**
   * Moves a task, inside the caller's transaction: the row, its audit entry, the numbered event and
   * the effect that must follow. This is the only place that changes a task's status.
   */
  apply(tx: Tx, task: TaskRecord, request: MoveRequest): Moved | Refusal
  /** The same with the plan of this very transaction. */
  applyPlan(tx: Tx, task: TaskRecord, request: MoveRequest, plan: TransitionPlan): Moved
}

export function createTransitions(context: EngineContext): Transitions {
  const workflowOf: Transitions['workflowOf'] = (tx, task) => {
    const project = tx.projects.get(task.project_id)
    if (!project) throw new BugError(`Task ${task.id} has no project.`)
    return context.workflows.of(project.workflow_definition)
  }
  const plan: Transitions['plan'] = (tx, task, request) => {
    const workflow = workflowOf(tx, task)
    const isAtGate = workflow.states.get(task.status)?.kind === 'gate'
    return planTransition(request, {
      workflow,
      status: task.status,
      version: task.version,
      entry_barrier: task.entry_barrier,
      archived: task.archived,
      // Only a gate asks for its review.
      latest_review: isAtGate ? (tx.reviews.latest(task.id)?.status ?? null) : null,
    })
  }
  return {
    workflowOf,
    plan,
    apply: (tx, task, request) => {
      const planned = plan(tx, task, request)
      return isRefusal(planned) ? planned : commitPlan(context, tx, task, request, planned)
    },
    applyPlan: (tx, task, request, planned) => commitPlan(context, tx, task, request, planned),
  }
}

function commitPlan(
  context: EngineContext,
  tx: Tx,
  task: TaskRecord,
  request: MoveRequest,
  plan: TransitionPlan,
): Moved {
  const now = nowIso(context)
  const transition_id = context.newId() as TransitionId
  const latest = closeOpenReview(context, tx, task, request)
  const review = plan.opens_review ? openReview(context, tx, task, plan, latest) : null
  const moved: TaskRecord = {
    ...task,
    error_annotation: null,
    review_summary: latest && toReviewSummary(latest),
    ...(review && {
      review_summary: toReviewSummary(review),
      context_holder: holderOf(task, plan) ?? task.context_holder,
    }),
    // Leaving the work behind again means that what passed is no longer what will be merged.
    ...(plan.to.kind === 'active' && { review_passed_at: null }),
    ...(review?.status === 'passed' && { review_passed_at: now }),
    ...request.patch,
    status: plan.to.name,
    version: task.version + 1,
    entry_barrier: plan.barrier,
    updated_at: now,
  }
  tx.tasks.put(moved)
  tx.transitions.put({
    id: transition_id,
    task_id: task.id,
    from_state: plan.from.name,
    to_state: plan.to.name,
    triggered_by: request.triggered_by,
    rejection: plan.rejection,
    trigger_reason: request.reason,
    hooks: [],
    created_at: now,
  })
  // A newer move supersedes what an older one had still to do.
  tx.effects.removeOfTask(task.id)
  if (plan.has_steps) tx.effects.add(task.id, effectOf(transition_id, plan, request))
  tx.emit('task.transitioned', {
    project_id: task.project_id,
    task_id: task.id,
    task: toTask(tx, moved),
    from_state: plan.from.name,
    to_state: plan.to.name,
    triggered_by: request.triggered_by,
  })
  if (review) tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review })
  return { task: moved, transition_id, review, plan }
}

function effectOf(transition_id: TransitionId, plan: TransitionPlan, request: MoveRequest): Effect {
  return {
    kind: 'enter',
    transition_id,
    from: plan.from.name,
    to: plan.to.name,
    triggered_by: request.triggered_by,
    cursor: 0,
    depth: request.depth ?? 0,
    cascade_skipped: false,
  }
}

/** A review that is overtaken by a move away from its gate can't go on. Answers the newest one as it is then. */
function closeOpenReview(context: EngineContext, tx: Tx, task: TaskRecord, request: MoveRequest): ReviewRecord | null {
  // A review and its summary on the task come together: without one nothing has to be looked up.
  const review = task.review_summary === null ? null : tx.reviews.latest(task.id)
  if (!review || (review.status !== 'running' && review.status !== 'pending')) return review
  const closed: ReviewRecord = {
    ...review,
    // What was cut short has no result.
    step_results: review.step_results.filter((step) => step.exit_code !== null),
    status: request.cause === 'reject' || request.cause === 'escalate' ? 'failed' : 'cancelled',
    finished_at: nowIso(context),
  }
  tx.reviews.put(closed)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: closed })
  return closed
}

/** Every entry into a review gate is a new attempt; with nothing to run and nobody to ask it has passed. */
function openReview(
  context: EngineContext,
  tx: Tx,
  task: TaskRecord,
  plan: TransitionPlan,
  latest: ReviewRecord | null,
): ReviewRecord {
  const now = nowIso(context)
  const role = roleOf(plan.to)
  const asksSomebody =
    plan.to.gate_config?.requires_human_approval === true ||
    (role !== null && task.roles[role] !== undefined && hasPlugin(plan.to, 'dispatch_role_agent'))
  const passed = task.review_config.ci_steps.length === 0 && !asksSomebody
  const review: ReviewRecord = {
    id: context.newId() as ReviewId,
    task_id: task.id,
    status: passed ? 'passed' : 'running',
    attempt_number: (latest?.attempt_number ?? 0) + 1,
    ci_steps: [...task.review_config.ci_steps],
    step_results: [],
    verdicts: [],
    created_at: now,
    finished_at: passed ? now : null,
  }
  tx.reviews.put(review)
  return review
}

/** Whoever had the role of the state that is left: they submitted the work. */
function holderOf(task: TaskRecord, plan: TransitionPlan): string | null {
  const role = plan.from.kind === 'active' ? roleOf(plan.from) : null
  const holder = role === null ? undefined : task.roles[role]
  return holder ? `${holder.type}:${holder.id}` : null
}
