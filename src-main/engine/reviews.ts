import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Verdict } from '../../src-shared/contract/reviews.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { decideVerdict } from '../domain/review/decide-verdict.ts'
import { rejectionsSinceUser } from '../domain/task/retry-budget.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { hooksAt, isReviewGate } from '../domain/workflow/graph.ts'
import { nowIso } from './context.ts'
import type { Tx } from './event-feed.ts'
import { applyRejection } from './block-task.ts'
import type { StepDeps } from './perform-step.ts'
import type { TaskRecord } from './store-port.ts'
import { toReviewSummary, toTask } from './views.ts'

export interface VerdictRequest {
  readonly task_id: TaskId
  readonly verdict: 'pass' | 'fail'
  readonly feedback: string | null
  readonly version: number | null
  readonly by: Assignee | { readonly type: 'operator' }
  readonly triggered_by: string
}

/** Judges the task at its gate, in one transaction; what follows is left to the effects. */
export function giveVerdict(deps: StepDeps, tx: Tx, request: VerdictRequest): Refusal | null {
  const task = tx.tasks.get(request.task_id)
  if (!task) return { code: 'not_found', message: 'There is no such task.', details: { resource: 'task' } }
  if (request.version !== null && request.version !== task.version) {
    return {
      code: 'version_conflict',
      message: 'The task changed since you read it. Look again before you judge.',
      details: { version: task.version },
    }
  }
  const workflow = deps.transitions.workflowOf(tx, task)
  const plan = decideVerdict(request.verdict, {
    workflow,
    status: task.status,
    entry_barrier: task.entry_barrier,
    roles: task.roles,
    latest_review: tx.reviews.latest(task.id)?.status ?? null,
    by: request.by,
    rejections: rejectionsSinceUser(tx.transitions.byTask(task.id), task.status),
  })
  if (isRefusal(plan)) return plan
  const gate = workflow.states.get(task.status)
  if (gate && isReviewGate(gate)) writeVerdict(deps, tx, task, request)
  else noteVerdict(tx, task, request)
  switch (plan.kind) {
    case 'pass_review':
      if (!plan.waits_for_person) passReview(deps, tx, task, request.triggered_by)
      return null
    case 'reject':
    case 'escalate':
      applyRejection(deps, tx, task, {
        triggered_by: request.triggered_by,
        feedback: request.feedback,
        by_person: request.by.type !== 'agent',
      })
      return null
    case 'forward': {
      const moved = deps.transitions.apply(tx, task, {
        to: plan.to,
        cause: 'forward',
        triggered_by: request.triggered_by,
        version: null,
        reason: request.feedback,
      })
      return isRefusal(moved) ? moved : null
    }
  }
}

/** A gate without a review row keeps what was said of it with the move that led there. */
function noteVerdict(tx: Tx, task: TaskRecord, request: VerdictRequest): void {
  const entry = tx.transitions.byTask(task.id).at(-1)
  if (!entry) return
  const said = `${request.triggered_by}: ${request.verdict}${request.feedback === null ? '' : `. ${request.feedback}`}`
  const outcome = { phase: 'after_enter', action: 'verdict', outcome: 'ok', reason: said, duration_ms: 0 } as const
  tx.transitions.setHooks(entry.id, [...entry.hooks, outcome])
  tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, task) })
}

function writeVerdict(deps: StepDeps, tx: Tx, task: TaskRecord, request: VerdictRequest): void {
  const review = tx.reviews.latest(task.id)
  if (!review) return
  const verdict: Verdict = {
    by: request.triggered_by,
    verdict: request.verdict,
    feedback: request.feedback,
    created_at: nowIso(deps.context),
  }
  const failed = request.verdict === 'fail'
  const judged = {
    ...review,
    verdicts: [...review.verdicts, verdict],
    ...(failed && { status: 'failed' as const, finished_at: verdict.created_at }),
  }
  tx.reviews.put(judged)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: judged })
}

/** The review has passed; a workflow that says so goes on to the merge at once. */
function passReview(deps: StepDeps, tx: Tx, task: TaskRecord, triggered_by: string): void {
  const review = tx.reviews.latest(task.id)
  if (!review) return
  const now = nowIso(deps.context)
  const passed = { ...review, status: 'passed' as const, finished_at: review.finished_at ?? now }
  tx.reviews.put(passed)
  const shown: TaskRecord = {
    ...task,
    review_passed_at: now,
    error_annotation: null,
    review_summary: toReviewSummary(passed),
    updated_at: now,
  }
  tx.tasks.put(shown)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: passed })
  tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, shown) })
  const state = deps.transitions.workflowOf(tx, task).states.get(task.status)
  const auto = state && hooksAt(state, 'after_enter').find((hook) => hook.plugin === 'auto_cascade_on_review_pass')
  if (!auto?.on_success) return
  deps.transitions.apply(tx, shown, {
    to: auto.on_success.cascade,
    cause: 'cascade',
    triggered_by,
    version: null,
    reason: null,
    depth: 1,
  })
}
