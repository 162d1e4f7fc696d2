import type { StepResult } from '../../../src-shared/contract/reviews.ts'
import { nowIso, type EngineContext } from '../context.ts'
import type { ReviewRecord, TaskRecord } from '../store-port.ts'
import { toReviewSummary, toSettings, toTask } from '../views.ts'
import type { Worktrees } from '../worktrees.ts'
import type { Plugin, PluginResult } from './plugin.ts'

export interface CiServices {
  readonly context: EngineContext
  readonly worktrees: Worktrees
  /** Lets an agent that submitted its own work finish its sentence first. */
  readonly whenIdle: (task_id: TaskRecord['id'], limit_ms: number, signal: AbortSignal) => Promise<void>
}

/** Runs the task's CI steps in its worktree, one after the other; the first that fails rejects the attempt. */
export function runCiSteps(services: CiServices): Plugin {
  const { context, worktrees } = services
  return {
    name: 'run_ci_steps',
    phases: ['before_enter'],
    run: async ({ task, project, workspace, signal, mark }): Promise<PluginResult> => {
      const opened = context.store.read.reviews.latest(task.id)
      if (opened?.status !== 'running') return { kind: 'ok' }
      if (!workspace) return { kind: 'skipped', reason: 'no_workspace' }
      await services.whenIdle(task.id, 60_000, signal)
      if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
      const redact = context.redactor(toSettings(project).redaction_patterns)
      const timeout_ms = toSettings(project).ci_step_timeout_seconds * 1_000
      // A run that a crash cut short starts over: half a result would be worth nothing.
      let review: ReviewRecord = { ...opened, step_results: [] }
      for (const [index, command] of review.ci_steps.entries()) {
        const log_name = `ci-${review.attempt_number}-${index + 1}.log`
        const begun: StepResult = { command, exit_code: null, duration_ms: null, output_tail: '', log_name }
        review = save(context, task, { ...review, step_results: [...review.step_results.slice(0, index), begun] })
        const log = await context.logs.openFile(task.id, log_name, redact)
        const env = worktrees.environment(task, 'ci')
        const result = await context.scripts
          .run({ command, cwd: workspace.path, env, timeout_ms, log, mark: mark() }, { signal })
          .finally(() => log.close())
        if (signal.aborted) return { kind: 'skipped', reason: 'superseded' }
        const step: StepResult = {
          ...begun,
          exit_code: result.exit_code,
          duration_ms: result.duration_ms,
          output_tail: redact(result.output_tail),
        }
        review = save(context, task, { ...review, step_results: [...review.step_results.slice(0, index), step] })
        if (result.exit_code !== 0)
          return { kind: 'rejected', feedback: feedbackOf(step, result.timed_out, timeout_ms) }
      }
      passUnlessAsked(context, task, review)
      return { kind: 'ok' }
    },
  }
}

function feedbackOf(step: StepResult, timed_out: boolean, timeout_ms: number): string {
  const how = timed_out ? `ran out of its ${timeout_ms / 1_000} s` : `failed with exit code ${step.exit_code}`
  return `The CI step \`${step.command}\` ${how}. The end of its output:\n\n${step.output_tail}`
}

/** With nobody left to ask, passing CI passes the review. */
function passUnlessAsked(context: EngineContext, task: TaskRecord, review: ReviewRecord): void {
  const { read } = context.store
  const current = read.tasks.get(task.id)
  if (!current || asksSomebody(context, current)) return
  save(context, task, { ...review, status: 'passed', finished_at: nowIso(context) })
}

function asksSomebody(context: EngineContext, task: TaskRecord): boolean {
  const project = context.store.read.projects.get(task.project_id)
  const gate = project && context.workflows.of(project.workflow_definition).states.get(task.status)
  if (!gate) return false
  return (
    gate.gate_config?.requires_human_approval === true ||
    (gate.role !== undefined && task.roles[gate.role] !== undefined)
  )
}

/** Keeps a review's progress, shows it on the card and announces it; one that was closed meanwhile stays closed. */
function save(context: EngineContext, task: TaskRecord, review: ReviewRecord): ReviewRecord {
  context.feed.commit((tx) => {
    if (tx.reviews.get(review.id)?.status !== 'running') return
    tx.reviews.put(review)
    const current = tx.tasks.get(task.id)
    if (current) {
      const now = nowIso(context)
      const shown: TaskRecord = {
        ...current,
        review_summary: toReviewSummary(review),
        review_passed_at: review.status === 'passed' ? now : current.review_passed_at,
        updated_at: now,
      }
      tx.tasks.put(shown)
      tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, shown) })
    }
    tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review })
  })
  return review
}
