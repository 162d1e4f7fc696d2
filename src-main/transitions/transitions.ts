import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TransitionId } from '../../src-shared/contract/ids.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { Effect } from '../domain/transition/effects.ts'
import { isRefusal } from '../domain/refusal.ts'
import { planTransition, type TransitionPlan, type TransitionRequest } from '../domain/transition/plan-transition.ts'
import { hasTrait, hooksAt, isDone, type Workflow } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import { cancelPendingMoves } from './effect-steps.ts'
import type { Tx } from '../core/event-feed.ts'
import { enqueueTaskFinished, enqueueWorkStopped, doesStateWork } from './enqueue-hooks.ts'
import { notify } from '../core/notify.ts'
import { closeOpenReview, holderOf, openReview } from './review-attempts.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import { toReviewSummary, toTask } from '../core/views.ts'

export interface MoveRequest extends TransitionRequest {
  readonly reason: string | null
  /** Number of cascades that led to this move. */
  readonly depth?: number
  /** Land although the checks of the base branch fail. */
  readonly on_red?: boolean
  /** Changes to the task in the same write. */
  readonly patch?: Partial<TaskRecord>
  /** The results of the source's `before_exit` hooks; without them the hooks run before the task moves. */
  readonly checked?: readonly HookOutcome[]
}

export interface Moved {
  readonly task: TaskRecord
  /** null while the source's hooks must still allow the move. */
  readonly transition_id: TransitionId | null
  readonly review: ReviewRecord | null
  readonly plan: TransitionPlan
}

export interface Transitions {
  workflowOf(tx: Pick<Tx, 'projects'>, task: TaskRecord): Workflow
  plan(
    tx: Pick<Tx, 'projects' | 'reviews' | 'pull_requests'>,
    task: TaskRecord,
    request: TransitionRequest,
  ): TransitionPlan | Refusal
  /**
   * Moves a task inside the caller's transaction: its row, audit entry, numbered event and effect. Only this function
   * changes a task's status (invariant I2). If the source has `before_exit` hooks that have not run and no caller
   * waits, the move is deferred to the outbox.
   */
  apply(tx: Tx, task: TaskRecord, request: MoveRequest): Moved | Refusal
  /** Applies a plan that was made in this transaction. */
  applyPlan(tx: Tx, task: TaskRecord, request: MoveRequest, plan: TransitionPlan): Moved
}

export function createTransitions(context: Ground): Transitions {
  const projectOf = (tx: Pick<Tx, 'projects'>, task: TaskRecord) => {
    const project = tx.projects.get(task.project_id)
    if (!project) throw new BugError(`Task ${task.id} has no project.`)
    return project
  }
  const workflowOf: Transitions['workflowOf'] = (tx, task) =>
    context.workflows.of(projectOf(tx, task).workflow_definition)
  const plan: Transitions['plan'] = (tx, task, request) => {
    const { workflow_definition, settings } = projectOf(tx, task)
    const workflow = context.workflows.of(workflow_definition)
    const isAtGate = workflow.states.get(task.status)?.kind === 'gate'
    return planTransition(request, {
      workflow,
      status: task.status,
      version: task.version,
      entry_barrier: task.entry_barrier,
      archived: task.archived,
      // Only a gate needs its review.
      latest_review: isAtGate ? (tx.reviews.latest(task.id)?.status ?? null) : null,
      ...(hasOpenPull(tx, task) && { pull_request_open: true }),
      ...(settings.lifecycle_hooks && { hooks: settings.lifecycle_hooks }),
    })
  }
  return {
    workflowOf,
    plan,
    apply: (tx, task, request) => {
      const planned = plan(tx, task, request)
      if (isRefusal(planned)) return planned
      return hasExitHooks(request, planned)
        ? deferToExitHooks(tx, task, request, planned)
        : commitPlan(context, tx, task, request, planned)
    },
    applyPlan: (tx, task, request, planned) => commitPlan(context, tx, task, request, planned),
  }
}

/** Returns whether a task's work is in a pull request that the forge may still merge. */
export function hasOpenPull(tx: Pick<Tx, 'pull_requests'>, { id }: Pick<TaskRecord, 'id'>): boolean {
  const state = tx.pull_requests.refOf(id)?.state
  return state === 'open' || state === 'draft'
}

/** Returns whether the source's hooks must still be asked. They can't hold up a cancel or a block. */
function hasExitHooks(request: MoveRequest, plan: TransitionPlan): boolean {
  if (request.checked !== undefined || request.cause === 'cancel' || request.cause === 'escalate') return false
  return hooksAt(plan.from, 'before_exit').length > 0
}

function deferToExitHooks(tx: Tx, task: TaskRecord, request: MoveRequest, plan: TransitionPlan): Moved {
  cancelPendingMoves(tx, task)
  tx.effects.add(task.id, {
    kind: 'leave',
    from: plan.from.name,
    to: plan.to.name,
    cause: request.cause,
    triggered_by: request.triggered_by,
    reason: request.reason,
    depth: request.depth ?? 0,
    annotation: request.patch?.error_annotation ?? null,
    outcomes: [],
    cursor: 0,
  })
  return { task: tx.saveTask(task), transition_id: null, review: null, plan }
}

function commitPlan(context: Ground, tx: Tx, task: TaskRecord, request: MoveRequest, plan: TransitionPlan): Moved {
  const now = tx.now()
  const transition_id = context.newId() as TransitionId
  const latest = closeOpenReview(tx, task, request.cause === 'reject' || request.cause === 'escalate')
  const review = plan.opens_review ? openReview(context, tx, task, plan, latest) : null
  const working = openWork(tx, task, plan)
  const moved: TaskRecord = {
    ...task,
    error_annotation: null,
    review_summary: latest && toReviewSummary(latest),
    ...(review && {
      review_summary: toReviewSummary(review),
      context_holder: holderOf(task, plan) ?? task.context_holder,
    }),
    // A task that goes back to work loses its pass, because other work will be merged.
    ...(plan.to.kind === 'active' && { review_passed_at: null }),
    ...(review?.status === 'passed' && { review_passed_at: now }),
    ...request.patch,
    status: plan.to.name,
    version: task.version + 1,
    entry_barrier: plan.barrier,
    ...(attends(request, plan) && { last_human_action_id: transition_id }),
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
    hooks: [...(request.checked ?? [])],
    created_at: now,
  })
  // A newer move supersedes the pending steps of an older one.
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
  // An automatic step after a person's action still notifies that person, but the end of their own merge is no news.
  const { depth = 0 } = request
  const isOwnMerge = depth === 1 && hasTrait(plan.workflow, plan.from, 'merges')
  const causedBy = depth === 0 || isOwnMerge ? { caused_by: request.triggered_by } : {}
  if (review?.status === 'passed') notify(context, tx, moved, { event_type: 'review.passed', body: null, ...causedBy })
  const { triggered_by } = request
  const from = plan.from.name
  for (const execution of working) enqueueWorkStopped(tx, plan.workflow, moved, { execution, from, triggered_by })
  enqueueTaskFinished(tx, plan.workflow, moved, { from, triggered_by, transition_id })
  if (isDone(plan.workflow, plan.to.name))
    notify(context, tx, moved, { event_type: 'task.done', body: null, ...causedBy })
  return { task: moved, transition_id, review, plan }
}

/**
 * Returns whether a person has attended to the task. A requested merge does not count, so the retry budget is not
 * reset.
 */
function attends({ triggered_by, cause }: MoveRequest, { workflow, to }: TransitionPlan): boolean {
  return isPerson(triggered_by) && !(cause === 'asked' && hasTrait(workflow, to, 'merges'))
}

/**
 * Returns the execution that works for the state that the task leaves; most have ended, and been announced, by then.
 */
function openWork(tx: Tx, task: TaskRecord, { workflow, from, hooks }: TransitionPlan): readonly ExecutionRecord[] {
  if (from.kind !== 'active' || Object.keys(hooks).length === 0) return []
  const running = tx.executions.openOfTask(task.id).filter((one) => one.status === 'running')
  return running.filter((one) => doesStateWork(tx, workflow, task, one))
}

function effectOf(
  transition_id: TransitionId,
  { from, to, own_steps: steps }: TransitionPlan,
  request: MoveRequest,
): Effect {
  return {
    kind: 'enter',
    transition_id,
    from: from.name,
    to: to.name,
    triggered_by: request.triggered_by,
    cursor: 0,
    depth: request.depth ?? 0,
    cascade_skipped: false,
    ...(request.on_red === true && { on_red: true }),
    ...(steps && { steps }),
  }
}
