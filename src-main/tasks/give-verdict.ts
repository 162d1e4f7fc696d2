import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { CommentId, ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import { needsPerson, type Verdict } from '../../src-shared/contract/reviews.ts'
import type { Assignee, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { countRejections } from '../transitions/count-rejections.ts'
import { decideVerdict, type VerdictPlan } from '../domain/review/decide-verdict.ts'
import { waitsForPerson } from '../domain/review/empty-work.ts'
import { clearAnnotation } from './rules/clear-annotation.ts'
import type { WorkFacts } from '../domain/review/judged-work.ts'
import { isPerson } from '../domain/transition/audience.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { cascadeOnPass, isReviewGate, type Workflow } from '../domain/workflow/graph.ts'
import { runMoveGuards } from './before-exit.ts'
import type { Decision } from './decision.ts'
import { applyFailedReview } from '../transitions/block-task.ts'
import { rejectionOf, sendWithRejection, type Rejection } from './rejection-comments.ts'
import type { Tx } from '../core/event-feed.ts'
import { notify } from '../core/notify.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Work } from '../ports/work-keeper.ts'
import { cascadeWaitsForStack, noteCascadeWaits } from '../core/stack-of.ts'
import { toReviewSummary } from '../core/views.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import { noteOpenRuns } from '../workspaces/repository-changes.ts'

export interface VerdictRequest {
  readonly task_id: TaskId
  readonly verdict: 'pass' | 'fail'
  readonly feedback: string | null
  /** The comments that a rejection takes along; null: those of the caller that were not sent yet. */
  readonly comment_ids: readonly CommentId[] | null
  readonly version: number | null
  /** The tree of the work that the caller looked at. */
  readonly tree: string | null
  readonly by: Assignee | { readonly type: 'operator' }
  readonly triggered_by: string
}

/** The facts that are needed before a verdict can be saved. */
export interface VerdictFindings {
  /** The work as it is now, and how it differs from the work that was seen and judged. */
  readonly work: FoundWork
  /** The work that the move after the verdict merges. */
  readonly merged: Work | null
  /** The results of the gate's `before_exit` hooks for the move after the verdict. */
  readonly checked: readonly HookOutcome[]
  /** The review that was read, and the number of its verdicts then. */
  readonly seen: string | null
}

type FoundWork = Omit<WorkFacts, 'by_person' | 'judged'>
export const noWork: FoundWork = { work: null, seen: null, files: [] }

interface PlannedVerdict {
  readonly task: TaskRecord
  readonly said: Rejection
  readonly plan: VerdictPlan
}

export interface GivenVerdict {
  /** The run of the coder that got the comments of a rejection, where there are some. */
  readonly next: ExecutionId | null
}

/** Decides a verdict at the task's current gate; the outbox does the steps of the move that it causes. */
export function verdictDecision(
  deps: StepServices,
  request: VerdictRequest,
  signal: AbortSignal,
): Decision<PlannedVerdict, VerdictFindings, GivenVerdict> {
  return {
    plan: (q, findings) => {
      const task = q.tasks.get(request.task_id)
      if (!task) return notFound('task')
      // Check the rules first: a verdict that they refuse needs no slow checks.
      const plan = findings
        ? planVerdict(deps, q, task, request, findings.work)
        : planVerdict(deps, q, task, { ...request, tree: null }, noWork)
      if (isRefusal(plan)) return plan
      const words = { text: request.feedback, comments: [] }
      const said = request.verdict === 'fail' ? rejectionOf(deps.context, q, task, request) : words
      if (isRefusal(said)) return said
      return findings && findings.seen !== seenOf(q, task) ? judgedMeanwhile(task) : { task, plan, said }
    },
    ask: ({ task }) => findVerdictFacts(deps, task, request, signal),
    commit: (tx, planned, findings) => {
      const said = { ...request, ...findings, feedback: planned.said.text }
      return commitVerdict(deps, tx, planned, said)
    },
  }
}

/** Runs all slow checks of a verdict: the state of the work, and the guards of the move that it causes. */
async function findVerdictFacts(
  deps: StepServices,
  task: TaskRecord,
  request: VerdictRequest,
  signal: AbortSignal,
): Promise<VerdictFindings | Refusal> {
  const { read } = deps.context.store
  const seen = seenOf(read, task)
  if (request.verdict === 'pass') await noteOpenRuns(deps.context, task)
  const work = await workFor(deps, task, request, signal)
  const plan = planVerdict(deps, read, task, request, work)
  if (isRefusal(plan)) return plan
  const workflow = deps.transitions.workflowOf(read, task)
  const move = isHeldByStack(read, workflow, task, plan)
    ? null
    : moveOf(workflow, workflow.states.get(task.status), plan)
  if (!move) return { work, merged: null, checked: [], seen }
  const asked = { ...move, triggered_by: request.triggered_by, version: null }
  const seenWork = { seen: null, vouched: work.work?.tree ?? null }
  const checks = await runMoveGuards(deps, task, asked, signal, seenWork)
  return isRefusal(checks) ? checks : { work, merged: checks.work, checked: checks.hooks, seen }
}

function seenOf(q: Queries, task: TaskRecord): string | null {
  const review = q.reviews.latest(task.id)
  return review && `${review.id} ${review.verdicts.length}`
}

/** The refusal for all but the first of concurrent verdicts. */
const judgedMeanwhile = ({ version }: TaskRecord): Refusal => ({
  code: 'version_conflict',
  message: 'Someone else decided at the same moment. Read their decision first.',
  details: { version },
})

/** Reads the work for a pass only: a rejection holds for any work and must not fail when the work can't be read. */
async function workFor(
  deps: StepServices,
  task: TaskRecord,
  { verdict, tree }: VerdictRequest,
  signal: AbortSignal,
): Promise<FoundWork> {
  const judged = verdict === 'pass' ? deps.context.store.read.reviews.latest(task.id) : null
  try {
    return await lookAtWork(deps, task, { seen: verdict === 'pass' ? tree : null, judged }, signal)
  } catch (error) {
    if (verdict === 'pass' || !(error instanceof WorkspaceError) || signal.aborted) throw error
    return noWork
  }
}

function planVerdict(
  deps: StepServices,
  q: Queries,
  task: TaskRecord,
  request: VerdictRequest,
  work: FoundWork,
): VerdictPlan | Refusal {
  if (request.version !== null && request.version !== task.version) {
    return {
      code: 'version_conflict',
      message: 'This task changed since you loaded it. Reload it, then decide.',
      details: { version: task.version },
    }
  }
  const review = q.reviews.latest(task.id)
  const workflow = deps.transitions.workflowOf(q, task)
  const gate = workflow.states.get(task.status)
  return decideVerdict(request.verdict, {
    workflow,
    status: task.status,
    entry_barrier: task.entry_barrier,
    roles: task.roles,
    latest_review: review?.status ?? null,
    work: { ...work, judged: review },
    has_notes: review !== null && review.notes.some(needsPerson),
    by: request.by,
    rejections: gate ? countRejections(q, workflow, task, gate) : 0,
  })
}

/** Returns the move that a verdict causes; null if none. */
function moveOf(workflow: Workflow, gate: WorkflowState | undefined, plan: VerdictPlan) {
  if (plan.kind === 'forward' || plan.kind === 'reject') return { to: plan.to, cause: plan.kind } as const
  if (plan.kind === 'escalate' || plan.waits_for_person) return null
  const cascade = gate && cascadeOnPass(workflow, gate)
  return cascade === undefined ? null : ({ to: cascade, cause: 'cascade' } as const)
}

/** Its cascade would merge it before the task below it in a stack: it follows once that has landed. */
function isHeldByStack(q: Queries, workflow: Workflow, task: TaskRecord, plan: VerdictPlan): boolean {
  return plan.kind === 'pass_review' && !plan.waits_for_person && cascadeWaitsForStack(q, workflow, task)
}

function commitVerdict(
  deps: StepServices,
  tx: Tx,
  { task, plan, said }: PlannedVerdict,
  request: VerdictRequest & VerdictFindings,
): GivenVerdict | Refusal {
  const { triggered_by, checked, feedback } = request
  const workflow = deps.transitions.workflowOf(tx, task)
  const gate = workflow.states.get(task.status)
  if (gate && isReviewGate(workflow, gate)) writeVerdict(deps, tx, task, request)
  else noteVerdict(tx, task, request)
  switch (plan.kind) {
    case 'pass_review':
      if (!plan.waits_for_person) passReview(deps, tx, task, request)
      return { next: null }
    case 'reject':
    case 'escalate':
      applyFailedReview(deps, tx, task, { triggered_by, feedback, checked, by_person: request.by.type !== 'agent' })
      return { next: sendWithRejection(deps, tx, task, said, request.work.work?.tree ?? null) }
    case 'forward': {
      const forward = { to: plan.to, cause: 'forward', version: null } as const
      const moved = deps.transitions.apply(tx, task, { ...forward, triggered_by, reason: feedback, checked })
      return isRefusal(moved) ? moved : { next: null }
    }
  }
}

/** At a gate without a review row, the verdict is stored with the transition into the gate. */
function noteVerdict(tx: Tx, task: TaskRecord, request: VerdictRequest): void {
  const entry = tx.transitions.last(task.id)
  if (!entry) return
  const text = `${request.triggered_by}: ${request.verdict}${request.feedback === null ? '' : `. ${request.feedback}`}`
  const outcome = { phase: 'after_enter', action: 'verdict', outcome: 'ok', reason: text, duration_ms: 0 } as const
  tx.transitions.setHooks(entry.id, [...entry.hooks, outcome])
  tx.saveTask(task)
}

function writeVerdict(deps: StepServices, tx: Tx, task: TaskRecord, request: VerdictRequest & VerdictFindings): void {
  const review = tx.reviews.latest(task.id)
  if (!review) return
  const { merged, work: found } = request
  const work = merged ?? found.work
  const verdict: Verdict = {
    by: request.triggered_by,
    verdict: request.verdict,
    feedback: request.feedback,
    head_commit: work?.head ?? null,
    tree: work?.tree ?? null,
    created_at: tx.now(),
  }
  const failed = request.verdict === 'fail'
  const judged = {
    ...review,
    ...(work && { head: work.head, tree: work.tree }),
    verdicts: [...review.verdicts, verdict],
    ...(failed && { status: 'failed' as const, finished_at: verdict.created_at }),
  }
  tx.reviews.put(judged)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: judged })
  if (failed)
    notify(deps.context, tx, task, {
      event_type: 'review.failed',
      body: request.feedback,
      caused_by: request.triggered_by,
    })
}

/** Marks the review as passed; a workflow that cascades on a pass then starts the merge at once. */
function passReview(deps: StepServices, tx: Tx, task: TaskRecord, request: VerdictRequest & VerdictFindings): void {
  const review = tx.reviews.latest(task.id)
  if (!review) return
  const now = tx.now()
  const passed = { ...review, status: 'passed' as const, finished_at: review.finished_at ?? now }
  tx.reviews.put(passed)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: passed })
  const shown = tx.saveTask({
    ...task,
    review_passed_at: now,
    error_annotation: clearAnnotation(task.error_annotation, 'pass', tx.effects.first(task.id) !== null),
    review_summary: toReviewSummary(passed),
    // A person has seen the notes of this review.
    ...(isPerson(request.triggered_by) && { repository_changes: [], run_findings: { notes: [], places: [] } }),
    ...(isPerson(request.triggered_by) && { last_human_action_id: deps.context.newId() }),
  })
  if (review.status !== 'passed')
    notify(deps.context, tx, task, { event_type: 'review.passed', body: null, caused_by: request.triggered_by })
  const workflow = deps.transitions.workflowOf(tx, task)
  const gate = workflow.states.get(task.status)
  const to = gate && cascadeOnPass(workflow, gate)
  if (to === undefined || waitsForPerson(task, passed)) return
  if (cascadeWaitsForStack(tx, workflow, task)) {
    noteCascadeWaits(tx, shown)
    return
  }
  const { triggered_by, checked } = request
  const cascade = { to, cause: 'cascade', version: null, reason: null, depth: 1 } as const
  deps.transitions.apply(tx, shown, { ...cascade, triggered_by, checked })
}
