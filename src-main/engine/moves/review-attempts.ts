import type { ReviewId } from '../../../src-shared/contract/ids.ts'
import type { TransitionPlan } from '../../domain/transition/plan-transition.ts'
import { hasPlugin, roleOf } from '../../domain/workflow/graph.ts'
import type { EngineContext } from '../context.ts'
import type { Tx } from '../event-feed.ts'
import type { ReviewRecord, TaskRecord } from '../ports/store.ts'

/** A review that is overtaken by a move away from its gate can't go on. Answers the newest one as it is then. */
export function closeOpenReview(tx: Tx, task: TaskRecord, rejected: boolean): ReviewRecord | null {
  // A review and its summary on the task come together: without one nothing has to be looked up.
  const review = task.review_summary === null ? null : tx.reviews.latest(task.id)
  if (!review || (review.status !== 'running' && review.status !== 'pending')) return review
  const closed: ReviewRecord = {
    ...review,
    // What was cut short has no result.
    step_results: review.step_results.filter((step) => step.exit_code !== null),
    status: rejected ? 'failed' : 'cancelled',
    finished_at: tx.now(),
  }
  tx.reviews.put(closed)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: closed })
  return closed
}

/** Every entry into a review gate is a new attempt; with nothing to run and nobody to ask it has passed. */
export function openReview(
  context: EngineContext,
  tx: Tx,
  task: TaskRecord,
  plan: TransitionPlan,
  latest: ReviewRecord | null,
): ReviewRecord {
  const now = tx.now()
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
    head_commit: null,
    tree: null,
    created_at: now,
    finished_at: passed ? now : null,
  }
  tx.reviews.put(review)
  return review
}

/** Whoever had the role of the state that is left: they submitted the work. */
export function holderOf(task: TaskRecord, plan: TransitionPlan): string | null {
  const role = plan.from.kind === 'active' ? roleOf(plan.from) : null
  const holder = role === null ? undefined : task.roles[role]
  return holder ? `${holder.type}:${holder.id}` : null
}
