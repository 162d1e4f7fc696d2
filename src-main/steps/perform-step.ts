import { BugError } from '../../src-shared/lang/bug-error.ts'
import { assertNever } from '../../src-shared/lang/assert-never.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { audienceMatches } from '../domain/transition/audience.ts'
import type { Effect, EnterEffect } from '../domain/transition/effects.ts'
import type { Step } from '../domain/transition/phases.ts'
import { isRefusal } from '../domain/refusal.ts'
import { cascadeOnSuccess, isReviewGate } from '../domain/workflow/graph.ts'
import { resetRequired } from '../transitions/block-task.ts'
import type { OutboxWorkerDeps } from './outbox-worker.ts'
import type { StepOutcome, StepContext } from '../transitions/step.ts'
import { escalate, resolveHookResult } from './resolve-hook-result.ts'
import { blockOnFailedHooks, runBeforeWorkHook } from '../hooks/before-work.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { dispatchRoleAgent } from '../plugins/dispatch-role-agent.ts'
import { runPlugin } from '../hooks/run-plugin.ts'
import { runStateScript } from './state-script.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { keepStackedWork } from '../workspaces/keep-lower.ts'
import type { StepServices } from './step-services.ts'

type HookStep = Step & { readonly kind: 'hook' }

/** Creates the function that performs one step of a transition and returns its outcome. */
export function createPerformStep(deps: StepServices): OutboxWorkerDeps['perform'] {
  return async (task, effect, step, run) => {
    switch (step.kind) {
      case 'await_work_stop':
        await deps.hookQueue.waitUntilDrained(task.id, ['on_work_stop'], run.signal)
        return { kind: 'advance' }
      case 'before_work':
        return runBeforeWorkHook(deps, task, entering(effect), step, run)
      case 'check_before_work':
        return blockOnFailedHooks(entering(effect))
      case 'clear_barrier':
        return { kind: 'advance' }
      case 'workspace':
        return ensureWorkspace(deps, task, effect, run)
      case 'dispatch': {
        const action = { phase: 'on_enter', action: dispatchRoleAgent.name, hook: {} } as const
        return resolveHookResult(deps, effect, action, await deps.dispatch(task))
      }
      case 'cleanup':
        await deps.cleanUp(task, effect.to, run.signal)
        return { kind: 'advance' }
      case 'move':
        return leave(deps, effect)
      case 'hook': {
        const { hook, phase } = step
        const workflow = deps.transitions.workflowOf(deps.context.store.read, task)
        const state = workflow.states.get(task.status)
        const cascade = state && cascadeOnSuccess(workflow, state, hook)
        const action = {
          phase,
          action: hook.plugin ?? 'script',
          hook: { ...hook, ...(cascade !== undefined && { on_success: { cascade } }) },
        }
        return resolveHookResult(deps, effect, action, await runStateHook(deps, task, effect, step, run))
      }
      default:
        return assertNever(step)
    }
  }
}

function entering(effect: Effect): EnterEffect {
  if (effect.kind !== 'enter') throw new BugError('Only an entry has hooks before work.')
  return effect
}

async function ensureWorkspace(
  deps: StepServices,
  task: TaskRecord,
  effect: Effect,
  { signal, processMarker }: StepContext,
): Promise<StepOutcome> {
  if (await isElsewhereAtReview(deps, task, signal)) return { kind: 'advance' }
  await keepStackedWork(deps, task, signal)
  const ensured = await deps.worktrees.ensure(task, signal, processMarker)
  if (ensured.kind === 'ready') return { kind: 'advance' }
  const annotation: ErrorAnnotation =
    ensured.kind === 'branch_gone'
      ? resetRequired
      : { type: 'workspace_error', message: ensured.message, recovery_actions: ['retry_execution'] }
  return escalate(deps, effect, annotation, undefined)
}

/**
 * Returns whether a worktree at its review is on another branch, or has lost its `.git` file. The review's checks look
 * at that as it is, so that a person decides about the work there.
 */
async function isElsewhereAtReview(
  { context, transitions, worktrees }: StepServices,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const workflow = transitions.workflowOf(context.store.read, task)
  const state = workflow.states.get(task.status)
  const workspace = worktrees.of(task)
  if (workspace?.status !== 'ready' || !state || !isReviewGate(workflow, state)) return false
  const { path } = workspace
  return (
    (await context.places.of(task.id).worktrees.exists(path)) &&
    !(await context.places.of(task.id).worktrees.isOnBranch(path, workspace.branch, { signal }))
  )
}

/**
 * Moves the task once the source's hooks have allowed it; if the move is refused by now, annotates the task with the
 * reason.
 */
function leave(deps: StepServices, effect: Effect): StepOutcome {
  if (effect.kind !== 'leave') throw new BugError('Only a pending move ends in a move.')
  return {
    kind: 'move',
    move: (tx, task, now) => {
      const moved = deps.transitions.apply(tx, task, {
        to: now.to,
        cause: effect.cause,
        triggered_by: effect.triggered_by,
        version: null,
        reason: effect.reason,
        depth: effect.depth,
        checked: effect.outcomes,
        ...(effect.annotation && { patch: { error_annotation: effect.annotation } }),
      })
      if (!isRefusal(moved)) return true
      const annotation: ErrorAnnotation = { type: 'hook_failed', message: moved.message, recovery_actions: [] }
      tx.saveTask({ ...task, error_annotation: annotation })
      return true
    },
  }
}

/** Runs one script or plugin of a state if its `on` and its phase match. */
export async function runStateHook(
  deps: Pick<StepServices, 'context' | 'transitions' | 'worktrees' | 'plugins' | 'runs'>,
  task: TaskRecord,
  effect: Pick<Effect, 'from' | 'to' | 'triggered_by'> & Pick<EnterEffect, 'on_red'>,
  { hook, phase }: HookStep,
  run: StepContext,
): Promise<PluginResult> {
  if (!audienceMatches(hook.applies_to, effect.triggered_by)) return { kind: 'skipped', reason: 'audience' }
  if (hook.script !== undefined) {
    return runStateScript(deps, task, { ...hook, script: hook.script }, phase, effect, run)
  }
  const plugin = deps.plugins.get(hook.plugin ?? '')
  if (!plugin) throw new BugError(`The workflow names the plugin ${hook.plugin ?? ''}, which does not exist.`)
  if (!plugin.phases.includes(phase)) return { kind: 'skipped', reason: 'unsupported_event' }
  const { from, to: state, triggered_by, on_red = false } = effect
  const result = await runPlugin(
    deps,
    plugin,
    task,
    { phase, state, from, triggered_by, on_red, config: hook.config },
    run,
  )
  if (!result) throw new BugError(`Task ${task.id} lost its project or its state.`)
  return result
}
