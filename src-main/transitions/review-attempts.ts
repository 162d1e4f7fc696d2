import type { ReviewId } from '../../src-shared/contract/ids.ts'
import { needsPerson, type ReviewNote, type Verdict } from '../../src-shared/contract/reviews.ts'
import type { TransitionPlan } from '../domain/transition/plan-transition.ts'
import { hasTrait, roleOf } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ReviewQueries, ReviewRecord } from '../ports/review-queries.ts'
import type { Work } from '../ports/work-keeper.ts'

/** Closes the open review of a task that moves away from its gate. Returns the newest review after that. */
export function closeOpenReview(tx: Tx, task: TaskRecord, rejected: boolean): ReviewRecord | null {
  // A task has a review exactly when it has a summary of it, so without a summary no query is needed.
  const review = task.review_summary === null ? null : tx.reviews.latest(task.id)
  if (!review || (review.status !== 'running' && review.status !== 'pending')) return review
  const closed: ReviewRecord = {
    ...review,
    // A step that was aborted has no result.
    step_results: review.step_results.filter((step) => step.exit_code !== null),
    status: rejected ? 'failed' : 'cancelled',
    finished_at: tx.now(),
  }
  tx.reviews.put(closed)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: closed })
  return closed
}

/** Opens a new attempt at every entry into a review gate; with no checks and no reviewer it has passed at once. */
export function openReview(
  context: Ground,
  tx: Tx,
  task: TaskRecord,
  plan: TransitionPlan,
  latest: ReviewRecord | null,
): ReviewRecord {
  const now = tx.now()
  const role = roleOf(plan.to)
  const asksSomebody =
    plan.to.gate_config?.requires_human_approval === true ||
    (role !== null && task.roles[role] !== undefined && hasTrait(plan.workflow, plan.to, 'dispatches'))
  const notes = toNotes(task)
  const passed = task.review_config.ci_steps.length === 0 && !asksSomebody && !notes.some(needsPerson)
  const review: ReviewRecord = {
    id: context.newId() as ReviewId,
    task_id: task.id,
    status: passed ? 'passed' : 'running',
    attempt_number: (latest?.attempt_number ?? 0) + 1,
    ci_steps: [...task.review_config.ci_steps],
    step_results: [],
    verdicts: [],
    head: null,
    tree: null,
    changed_by_steps: [],
    notes,
    empty: false,
    ignored: [],
    config_changes: [...task.review_config_changes],
    created_at: now,
    finished_at: passed ? now : null,
  }
  tx.reviews.put(review)
  return review
}

/** Returns the review that passed the current work of a task; null if no review did. */
export function vouchingReview(q: { readonly reviews: ReviewQueries }, task: TaskRecord): ReviewRecord | null {
  // A task that went back to work loses its pass.
  if (task.review_passed_at === null) return null
  const latest = q.reviews.latest(task.id)
  return latest?.status === 'passed' ? latest : null
}

/**
 * Makes the review refer to the work that is merged: the same work in another commit, or what a person has just seen.
 */
export function noteMergedWork(tx: Tx, task: TaskRecord, { head, tree }: Work, triggered_by: string): void {
  const review = vouchingReview(tx, task)
  if (!review || (review.head === head && review.tree === tree)) return
  const verdict: Verdict = {
    by: triggered_by,
    verdict: 'pass',
    feedback: null,
    head_commit: head,
    tree,
    created_at: tx.now(),
  }
  const isOther = review.tree !== null && review.tree !== tree
  const merged = { ...review, head, tree, verdicts: isOther ? [...review.verdicts, verdict] : review.verdicts }
  tx.reviews.put(merged)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: merged })
}

/** Returns the notes for a review of a task: what its runs changed or left besides its branch. */
export function toNotes({ repository_changes, run_findings }: Pick<TaskRecord, 'repository_changes' | 'run_findings'>) {
  const changed: ReviewNote[] =
    repository_changes.length === 0 ? [] : [{ kind: 'repository_changed', paths: [...repository_changes] }]
  return [...changed, ...run_findings.notes]
}

/** Returns who held the role of the state that the task leaves: they submitted the work. */
export function holderOf(task: TaskRecord, plan: TransitionPlan): string | null {
  const role = plan.from.kind === 'active' ? roleOf(plan.from) : null
  const holder = role === null ? undefined : task.roles[role]
  return holder ? `${holder.type}:${holder.id}` : null
}
