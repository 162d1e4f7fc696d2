import { z } from 'zod'
import { needsPerson, type StepResult } from '../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { isSameFailure } from '../domain/review/same-failure.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { scriptContainment } from '../core/script-containment.ts'
import { notify } from '../core/notify.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import { toReviewSummary, toSettings } from '../core/views.ts'
import { timeOfId } from '../../src-shared/lang/time-of-id.ts'
import { settleInner } from '../workspaces/inner-repositories.ts'
import { noteOpenRuns } from '../workspaces/repository-changes.ts'
import { noteDiff, settleElsewhere } from '../workspaces/work-elsewhere.ts'
import type { PluginContext, PluginDefinition, PluginServices } from '../hooks/plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

type Services = Pick<PluginServices, 'context' | 'worktrees' | 'waitUntilIdle'>

/** Runs the task's CI steps in its worktree in order; the first failure fails the attempt. */
export const runCiSteps: PluginDefinition = {
  name: 'run_ci_steps',
  purpose: 'Run the review’s checks.',
  phases: ['before_enter'],
  events: [],
  options: z.strictObject({}),
  traits: ['needs_worktree', 'makes_gate'],
  create: (services) => {
    const { context } = services
    return {
      run: async (run): Promise<PluginResult> => {
        const { task, workspace, signal } = run
        const found = context.store.read.reviews.latest(task.id)
        if (!found || !openStatuses.has(found.status)) return { kind: 'ok' }
        if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
        await services.waitUntilIdle(task.id, 60_000, signal)
        if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
        // A long-running agent may have changed git's configuration already.
        await noteOpenRuns(context, task)
        const ref = await services.worktrees.ref(workspace)
        const uncontained = uncontainable(context, run, found)
        if (uncontained !== null) return await hold(context, task, uncontained)
        const elsewhere = await settleElsewhere(context, task, ref, signal)
        if (elsewhere.kind === 'held') return await hold(context, task, elsewhere.annotation)
        if (elsewhere.kind === 'conflict') return conflicting(elsewhere.feedback)
        const undecided = await settleInner(context, task, run.project, ref, signal)
        if (undecided !== null) return await hold(context, task, undecided)
        // What was found until here is noted at the review.
        const opened = context.store.read.reviews.get(found.id)
        if (!opened || !openStatuses.has(opened.status)) return { kind: 'ok' }
        const resumed =
          opened.status === 'pending' ? await save(context, task, { ...opened, status: 'running' }, 'pending') : opened
        const before = await context.places.of(task.id).work.work(ref, { signal })
        // A run that a crash interrupted starts over, because a partial result is worthless.
        const emptiness = await findEmptiness(context, task, ref, signal)
        const review: ReviewRecord = { ...resumed, ...before, ...emptiness, changed_by_steps: [], step_results: [] }
        const result = await runSteps(services, run, review, workspace.path)
        if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
        await noteDiff(context, task, ref, signal)
        if (opened.ci_steps.length === 0) return await saveReviewed(context, task, review, result)
        // Files that the steps wrote, such as a lock file, are part of the reviewed work.
        const work = await context.places.of(task.id).work.work(ref, { signal })
        const differs = before !== null && work !== null && before.tree !== work.tree
        const changed = differs
          ? await context.places.of(task.id).work.changedFiles(ref, before.tree, work.tree, { signal })
          : []
        const changed_by_steps = changed.slice(0, maxChangedBySteps)
        return await saveReviewed(context, task, { ...review, ...work, changed_by_steps }, result)
      },
    }
  },
}

const conflicting = (feedback: string): PluginResult => ({
  kind: 'rejected',
  feedback,
  note: 'work that was elsewhere conflicts',
  notify: { event_type: 'review.failed', body: feedback },
})

const openStatuses: ReadonlySet<ReviewRecord['status']> = new Set(['running', 'passed', 'pending'])

/** Returns whether the work changes nothing, and if so, which ignored files its runs wrote instead. */
async function findEmptiness(
  { store, places }: Ground,
  { id }: TaskRecord,
  ref: BranchRef,
  signal: AbortSignal,
): Promise<Pick<ReviewRecord, 'empty' | 'ignored'>> {
  const { diffs, elsewhere } = places.of(id)
  // The size was measured when the run ended.
  const measured = store.read.tasks.get(id)?.diff_stat?.files ?? 0
  const empty = ref.path !== null && measured === 0 && (await diffs.diffStat(ref, { signal })).files === 0
  if (!empty) return { empty, ignored: [] }
  // A run is written down as started once its process may have written files.
  const starts = store.read.executions.byTask(id).map((one) => timeOfId(one.id))
  const ignored = starts.length === 0 ? [] : await elsewhere.ignoredSince(ref.path, Math.min(...starts), { signal })
  return { empty, ignored: [...ignored] }
}

/** Returns why CI can't be contained here, since its steps would fail for a reason that no agent can fix. */
function uncontainable(
  { places }: Ground,
  { project, task }: PluginContext,
  { ci_steps }: ReviewRecord,
): ErrorAnnotation | null {
  const message =
    ci_steps.length === 0 ? null : places.of(task.id).containment.refusal(toSettings(project).ci_containment)
  return message === null ? null : heldFor(message)
}

/** Holds the task for a person, because what fails the steps is nothing that an agent can fix. */
const heldFor = (message: string): ErrorAnnotation => ({
  type: 'hook_failed',
  message,
  hook: runCiSteps.name,
  recovery_actions: ['retry_hook'],
})

const maxChangedBySteps = 1_000

type StepsEnd = PluginResult | { readonly kind: 'passed'; readonly review: ReviewRecord }

/** Saves what was reviewed, together with the pass if no reviewer has to be asked. */
async function saveReviewed(
  context: Ground,
  task: TaskRecord,
  { head, tree, changed_by_steps, empty, ignored }: ReviewRecord,
  result: StepsEnd,
): Promise<PluginResult> {
  const current = context.store.read.reviews.latest(task.id)
  if (current && result.kind !== 'skipped') {
    const judged = { ...current, head, tree, changed_by_steps, empty: empty && changed_by_steps.length === 0, ignored }
    const saved = await save(
      context,
      task,
      result.kind === 'passed' ? passedUnlessAsked(context, task, judged) : judged,
    )
    if (result.kind === 'passed') await askPerson(context, task, saved)
  }
  return result.kind === 'passed' ? { kind: 'ok' } : result
}

/** Notifies people of a review that only its notes keep open, because no reviewer will ask them. */
async function askPerson(context: Ground, task: TaskRecord, { status, notes }: ReviewRecord): Promise<void> {
  const current = context.store.read.tasks.get(task.id)
  if (status !== 'running' || !notes.some(needsPerson) || !current || asksSomebody(context, current)) return
  const body = 'The review has notes that a person must see before the work can be merged.'
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => notify(context, tx, current, { event_type: 'task.blocked', body })),
  )
}

async function runSteps(
  { context, worktrees }: Services,
  { task, project, signal, processMarker }: PluginContext,
  opened: ReviewRecord,
  cwd: string,
): Promise<StepsEnd> {
  const settings = toSettings(project)
  const redact = context.redactor(settings.redaction_patterns)
  const containment = scriptContainment(settings)
  const timeout_ms = settings.ci_step_timeout_seconds * 1_000
  let review = opened
  for (const [index, command] of review.ci_steps.entries()) {
    const log_name = `ci-${review.attempt_number}-${index + 1}.log`
    const begun: StepResult = { command, exit_code: null, duration_ms: null, output_tail: '', log_name }
    const done = review.step_results.slice(0, index)
    review = await save(context, task, { ...review, step_results: [...done, begun] })
    const stepMark = processMarker()
    const log = await context.logs.openFile(task.id, log_name, redact)
    const env = worktrees.environment(task, 'ci')
    const script = { command, cwd, env, timeout_ms, log, containment, processMarker: stepMark }
    const scripts = context.places.scripts({ task_id: task.id, project_id: task.project_id })
    const result = await afterwards(scripts.run(script, { signal }), () => log.close())
    if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
    const { exit_code, duration_ms } = result
    const step: StepResult = { ...begun, exit_code, duration_ms, output_tail: redact(result.output_tail) }
    review = await save(context, task, { ...review, step_results: [...done, step] })
    if (result.not_run !== undefined) return await hold(context, task, heldFor(redact(result.not_run)))
    if (exit_code !== 0) return rejection(context, review, step, result.timed_out ? timeout_ms : null)
  }
  return { kind: 'passed', review }
}

/** Returns the failed attempt; points out a step that failed the same way in the attempt before. */
function rejection(context: Ground, review: ReviewRecord, step: StepResult, timed_out_ms: number | null): PluginResult {
  const how =
    timed_out_ms === null ? `failed with exit code ${step.exit_code}` : `timed out after ${timed_out_ms / 1_000} s`
  const attempts = context.store.read.reviews.byTask(review.task_id)
  const before = attempts.find((one) => one.attempt_number === review.attempt_number - 1)
  const isStuck = before?.step_results.some((other) => isSameFailure(step, other)) === true
  const stuck = isStuck
    ? `This is the same failure as in attempt ${before.attempt_number}: the changes since did not touch its cause. Look for it elsewhere, or say what keeps you from fixing it.\n\n`
    : ''
  const feedback = `The check \`${step.command}\` ${how}. ${stuck}The end of its output:\n\n${step.output_tail}`
  const note = isStuck
    ? `stuck: ${step.command} failed as in attempt ${before.attempt_number}`
    : `${step.command} ${how}`
  return {
    kind: 'rejected',
    feedback,
    note,
    notify: { event_type: 'review.failed', body: `${stuck}${step.command} ${how}.` },
  }
}

/** Passes the review when CI passed and no reviewer is left to ask. */
function passedUnlessAsked(context: Ground, task: TaskRecord, review: ReviewRecord): ReviewRecord {
  const current = context.store.read.tasks.get(task.id)
  if (review.status === 'passed' || !current || asksSomebody(context, current) || review.notes.some(needsPerson))
    return review
  return { ...review, status: 'passed', finished_at: nowIso(context) }
}

function asksSomebody(context: Ground, task: TaskRecord): boolean {
  const project = context.store.read.projects.get(task.project_id)
  const gate = project && context.workflows.of(project.workflow_definition).states.get(task.status)
  if (!gate) return false
  return (
    gate.gate_config?.requires_human_approval === true ||
    (gate.role !== undefined && task.roles[gate.role] !== undefined)
  )
}

/** Blocks the review for a person before its steps run. A review without steps may have passed already. */
async function hold(context: Ground, task: TaskRecord, annotation: ErrorAnnotation): Promise<PluginResult> {
  const write = (tx: Tx) => {
    const known = tx.reviews.latest(task.id)
    const current = tx.tasks.get(task.id)
    if (!known || !current || known.status === 'failed' || known.status === 'cancelled') return
    const review: ReviewRecord = { ...known, status: 'pending', finished_at: null }
    tx.reviews.put(review)
    tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review })
    tx.saveTask({ ...current, review_summary: toReviewSummary(review), review_passed_at: null })
    notify(context, tx, current, { event_type: 'task.blocked', body: annotation.message })
  }
  await context.writes.untilWritten(() => context.feed.commit(write))
  return { kind: 'held', annotation }
}

/**
 * Saves a review's progress, shows it on the card and emits it, unless the review was closed since. `from`: its
 * status before.
 */
async function save(
  context: Ground,
  task: TaskRecord,
  review: ReviewRecord,
  from: ReviewRecord['status'] = 'running',
): Promise<ReviewRecord> {
  const write = (tx: Tx) => {
    const known = tx.reviews.get(review.id)
    if (known?.status !== from && known?.status !== review.status) return
    tx.reviews.put(review)
    tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review })
    const current = tx.tasks.get(task.id)
    if (!current || known.status !== from) return
    const passed = review.status === 'passed'
    const shown = tx.saveTask({
      ...current,
      review_summary: toReviewSummary(review),
      review_passed_at: passed ? tx.now() : current.review_passed_at,
    })
    if (passed) notify(context, tx, shown, { event_type: 'review.passed', body: null })
  }
  await context.writes.untilWritten(() => context.feed.commit(write))
  return review
}
