import { BugError } from '../../src-shared/lang/bug-error.ts'
import { assertNever } from '../../src-shared/lang/assert-never.ts'
import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { StateHook } from '../../src-shared/contract/workflow-definition.ts'
import { audienceMatches } from '../domain/transition/audience.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { Step } from '../domain/transition/phases.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { applyRejection, blockTask, resetRequired } from './block-task.ts'
import type { EngineContext } from './context.ts'
import type { EffectWorkerDeps, StepEnd, StepRun } from './effects.ts'
import type { Plugin, PluginContext, PluginResult } from './plugins/plugin.ts'
import { runStateScript } from './state-script.ts'
import type { TaskRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'
import type { Worktrees } from './worktrees.ts'

/** A chain of automatic moves ends here, so that two hooks can't chase a task round for ever. */
export const maxCascades = 3

export interface StepDeps {
  readonly context: EngineContext
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly dispatch: (task: TaskRecord) => Promise<PluginResult>
  readonly cleanUp: (task: TaskRecord, state: string, signal: AbortSignal) => Promise<void>
}

/** Performs one step of a transition and says where it leads. */
export function createPerformStep(deps: StepDeps): EffectWorkerDeps['perform'] {
  return async (task, effect, step, { signal, mark }) => {
    switch (step.kind) {
      case 'clear_barrier':
        return { kind: 'advance' }
      case 'workspace':
        return ensureWorkspace(deps, task, { signal, mark })
      case 'dispatch': {
        const result = await deps.dispatch(task)
        return end(deps, effect, { phase: 'on_enter', action: 'dispatch_role_agent', hook: {} }, result)
      }
      case 'cleanup':
        await deps.cleanUp(task, effect.to, signal)
        return { kind: 'advance' }
      case 'hook':
        return runHook(deps, task, effect, step, { signal, mark })
      default:
        return assertNever(step)
    }
  }
}

async function ensureWorkspace(deps: StepDeps, task: TaskRecord, { signal, mark }: StepRun): Promise<StepEnd> {
  const ensured = await deps.worktrees.ensure(task, signal, mark)
  if (ensured.kind === 'ready') return { kind: 'advance' }
  const annotation: ErrorAnnotation =
    ensured.kind === 'branch_gone'
      ? resetRequired
      : { type: 'workspace_error', message: ensured.message, recovery_actions: ['retry_execution'] }
  return escalate(deps, annotation, undefined)
}

/** Hands the task to a person: to the state for blocked tasks, or where it stands when there is none. */
function escalate(deps: StepDeps, annotation: ErrorAnnotation, outcome: HookOutcome | undefined): StepEnd {
  return {
    kind: 'move',
    annotation,
    ...(outcome && { outcome }),
    move: (tx, task) => {
      blockTask(deps, tx, task, annotation)
    },
  }
}

interface Action {
  readonly phase: HookOutcome['phase']
  readonly action: string
  readonly hook: Pick<StateHook, 'on_failure' | 'on_success'>
}

async function runHook(
  deps: StepDeps,
  task: TaskRecord,
  effect: Effect,
  step: Step & { kind: 'hook' },
  run: StepRun,
): Promise<StepEnd> {
  const { hook, phase } = step
  const action: Action = { phase, action: hook.plugin ?? 'script', hook }
  if (!audienceMatches(hook.applies_to, effect.triggered_by)) {
    return end(deps, effect, action, { kind: 'skipped', reason: 'audience' })
  }
  if (hook.script !== undefined) {
    const result = await runStateScript(
      deps,
      task,
      { ...hook, script: hook.script },
      phase,
      effect.from,
      run.signal,
      run.mark,
    )
    return end(deps, effect, action, result)
  }
  const plugin = deps.plugins.get(hook.plugin ?? '')
  if (!plugin) throw new BugError(`The workflow names the plugin ${hook.plugin ?? ''}, which does not exist.`)
  if (!plugin.phases.includes(phase)) {
    return end(deps, effect, action, { kind: 'skipped', reason: 'unsupported_event' })
  }
  const context = pluginContext(deps, task, effect, step, run)
  return end(deps, effect, action, await plugin.run(context))
}

function pluginContext(
  deps: StepDeps,
  task: TaskRecord,
  effect: Effect,
  step: Step & { kind: 'hook' },
  run: StepRun,
): PluginContext {
  const { read } = deps.context.store
  const project = read.projects.get(task.project_id)
  const workflow = deps.transitions.workflowOf(read, task)
  const state = workflow.states.get(effect.to)
  if (!project || !state) throw new BugError(`Task ${task.id} lost its project or its state.`)
  return {
    task,
    project,
    workflow,
    state,
    phase: step.phase,
    triggered_by: effect.triggered_by,
    workspace: read.workspaces.byTask(task.id),
    config: step.hook.config ?? {},
    ...run,
  }
}

/** Turns what an action said into where the task goes, by the hook's failure and success policies. */
function end(deps: StepDeps, effect: Effect, action: Action, result: PluginResult): StepEnd {
  const { phase, hook } = action
  const base = { phase, action: action.action, duration_ms: 0 }
  if (result.kind === 'skipped') {
    return {
      kind: 'advance',
      outcome: { ...base, outcome: 'skipped', reason: result.reason },
      // Nobody to dispatch is no hindrance; a missing workspace is what a later hook would build on.
      cascade_skipped: phase === 'on_enter' && result.reason === 'no_workspace',
    }
  }
  if (result.kind === 'rejected')
    return rejectAtGate(deps, { ...base, outcome: 'failed', reason: 'rejected' }, result.feedback)
  const target =
    result.kind === 'ok'
      ? hook.on_success?.cascade
      : typeof hook.on_failure === 'object'
        ? hook.on_failure.cascade
        : undefined
  const outcome: HookOutcome =
    result.kind === 'ok'
      ? { ...base, outcome: 'ok', ...(result.note !== undefined && { reason: result.note }) }
      : { ...base, outcome: 'failed', reason: result.reason }
  const annotation = result.kind === 'failed' ? result.annotation : undefined
  const mayCascade =
    target !== undefined && effect.depth < maxCascades && !(phase === 'after_enter' && effect.cascade_skipped)
  if (!mayCascade) return { kind: 'advance', outcome, ...(annotation && { annotation }) }
  return {
    kind: 'move',
    outcome,
    move: (tx, current) => {
      const reason = result.kind === 'failed' ? result.reason : null
      const moved = deps.transitions.apply(tx, current, {
        to: target,
        cause: 'cascade',
        triggered_by: effect.triggered_by,
        version: null,
        reason,
        depth: effect.depth + 1,
        ...(annotation && { patch: { error_annotation: annotation } }),
      })
      if (isRefusal(moved)) deps.context.log.warn({ task_id: current.id, code: moved.code }, 'a cascade was refused')
    },
  }
}

/** The gate's own no: back with the feedback, or to a person when the budget is used up. */
function rejectAtGate(deps: StepDeps, outcome: HookOutcome, feedback: string): StepEnd {
  return {
    kind: 'move',
    outcome,
    move: (tx, current) => {
      applyRejection(deps, tx, current, { triggered_by: 'system', feedback, by_person: false })
    },
  }
}
