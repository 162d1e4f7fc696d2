import type { HookEvent, HookRun, LifecycleHook, PluginHook } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { HookPhase } from '../../src-shared/contract/workflow-definition.ts'
import { audienceMatches } from '../domain/transition/audience.ts'
import { hookAction, type PendingHooks, type IndexedHook } from '../domain/transition/pending-hooks.ts'
import type { Ground } from '../core/ground.ts'
import type { StepContext } from '../transitions/step.ts'
import type { Plugin } from './plugin.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { runPlugin } from './run-plugin.ts'
import { scriptContainmentOf } from '../core/script-containment.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import type { HookRunResult, HookRuns, HookRunInfo } from './hook-runs.ts'
import { runScriptHook, skippedRun } from './script-hook.ts'
import { scriptPlace } from './script-place.ts'

export interface HookDeps {
  readonly context: Ground
  readonly transitions: Pick<Transitions, 'workflowOf'>
  readonly worktrees: Pick<Worktrees, 'environment'>
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly runs: HookRuns
}

/** The data about its event that a hook gets. */
export type HookTrigger = Pick<PendingHooks, 'event' | 'from' | 'to' | 'triggered_by' | 'agent_id' | 'execution_id'>

/** Runs one of a project's hooks for a task and keeps its log. */
export async function runLifecycleHook(
  deps: HookDeps,
  task: TaskRecord,
  moment: HookTrigger,
  { index, hook }: IndexedHook,
  run: StepContext,
): Promise<HookRun> {
  const { context } = deps
  const { event, from: previous_status, agent_id, execution_id } = moment
  const then = { ...task, status: moment.to }
  const { workspace, cwd, env } = await scriptPlace(deps, then, event, { previous_status, agent_id, execution_id })
  const start = { event, index, ...identityOf(hook), environment: env }
  return await deps.runs.run(task, start, async (live) => {
    if (!audienceMatches(hook.applies_to, moment.triggered_by)) return skippedRun('audience')
    if (hook.type === 'plugin') return await runPluginHook(deps, task, moment, hook, run)
    // If the worktree is gone already, clean-up hooks run in the repository.
    if (workspace === null || cwd === null) return skippedRun('no_workspace')
    const redact = redactorOf(context, context.store.read, task.project_id)
    const containment = scriptContainmentOf(context.store.read, task.project_id)
    return await runScriptHook(
      context.places.scripts({ task_id: task.id, project_id: task.project_id }),
      hook,
      { cwd, env, redact, containment, ...run },
      live,
    )
  })
}

/** The hook's identity for its log. */
export function identityOf(
  hook: LifecycleHook,
): Pick<HookRunInfo, 'type' | 'blocking' | 'timeout_seconds' | 'command' | 'plugin'> {
  return hook.type === 'script'
    ? { type: 'script', command: hook.command, blocking: hook.blocking, timeout_seconds: hook.timeout_seconds }
    : { type: 'plugin', plugin: hook.name, blocking: false, timeout_seconds: null }
}

/** The workflow phase in which a plugin named for an event runs. */
const phaseOf = {
  before_work: 'before_enter',
  on_work_start: 'on_enter',
  on_work_stop: 'on_exit',
  on_task_done: 'on_enter',
  on_task_cancel: 'on_enter',
} as const satisfies Record<HookEvent, HookPhase>

async function runPluginHook(
  deps: HookDeps,
  task: TaskRecord,
  { event, from, triggered_by }: HookTrigger,
  hook: PluginHook,
  run: StepContext,
): Promise<HookRunResult> {
  const plugin = deps.plugins.get(hook.name)
  if (!plugin?.events.includes(event)) return skippedRun('unsupported_event')
  const call = { phase: phaseOf[event], state: task.status, from, triggered_by, config: hook.config }
  const result = await runPlugin(deps, plugin, task, call, run)
  return result ? endOf(result) : skippedRun('superseded')
}

function endOf(result: PluginResult): HookRunResult {
  switch (result.kind) {
    case 'ok':
      return { status: 'succeeded', exit_code: null, reason: result.note ?? null, stdout: '', stderr: '' }
    case 'skipped':
      return skippedRun(result.reason)
    case 'failed':
      return failedRun(result.reason)
    case 'rejected':
      return failedRun(result.feedback)
    case 'returned':
      return failedRun(result.reason)
    case 'held':
    case 'escalate':
      return failedRun(result.annotation.message)
  }
}

function failedRun(reason: string): HookRunResult {
  return { status: 'failed', exit_code: null, reason, stdout: '', stderr: '' }
}

/** Returns the run as an outcome for the timeline. */
export function toHookOutcome(run: HookRun, event: HookEvent, hook: LifecycleHook): HookOutcome {
  const isBad = run.status === 'failed' || run.status === 'timed_out'
  const bad = run.blocking ? 'blocked' : 'failed'
  return {
    phase: event,
    action: hookAction(hook),
    outcome: isBad ? bad : run.status === 'skipped' ? 'skipped' : 'ok',
    ...(run.reason !== null && { reason: run.reason }),
    duration_ms: run.duration_ms ?? 0,
    log_name: run.log_name,
  }
}
