import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { StateHook } from '../../src-shared/contract/workflow-definition.ts'
import type { Effect } from '../domain/transition/effects.ts'
import { isRefusal } from '../domain/refusal.ts'
import { applyFailedReview, blockTask, maxCascades, type BlockDeps } from '../transitions/block-task.ts'
import type { StepOutcome } from '../transitions/step.ts'
import { missingContextReasons, type PluginResult } from '../core/plugin-result.ts'

export interface Action {
  readonly phase: HookOutcome['phase']
  readonly action: string
  readonly hook: Pick<StateHook, 'on_failure' | 'on_success'>
}

/** Turns the result of an action into a step outcome, by the hook's failure and success policies. */
export function resolveHookResult(deps: BlockDeps, effect: Effect, action: Action, result: PluginResult): StepOutcome {
  const base = { phase: action.phase, action: action.action, duration_ms: 0 }
  switch (result.kind) {
    case 'skipped':
      return {
        kind: 'advance',
        outcome: { ...base, outcome: 'skipped', reason: result.reason },
        // A missing agent is fine; a missing workspace would break later hooks, so their cascade is skipped.
        cascade_skipped:
          action.phase === 'on_enter' && missingContextReasons.some((reason) => reason === result.reason),
      }
    case 'rejected':
      return {
        kind: 'move',
        outcome: { ...base, outcome: 'failed', reason: result.note ?? 'rejected' },
        rejects: true,
        ...(result.notify && { notify: result.notify }),
        // The gate itself rejects: the task goes back with the feedback, or to a person when the retry budget is used
        // up.
        move: (tx, task) => {
          const { feedback } = result
          const depth = effect.depth + 1
          const gate = result.gate === undefined ? {} : { gate: result.gate }
          applyFailedReview(deps, tx, task, { triggered_by: 'system', feedback, by_person: false, depth, ...gate })
          return true
        },
      }
    case 'returned':
      return returnToGate(deps, effect, { ...base, outcome: 'failed', reason: result.reason }, result)
    case 'held': {
      const { annotation } = result
      return { kind: 'block', outcome: { ...base, outcome: 'blocked', reason: annotation.message }, annotation }
    }
    case 'escalate':
      return escalate(deps, effect, result.annotation, {
        ...base,
        outcome: 'failed',
        reason: result.annotation.message,
      })
    case 'failed':
      return resolveHookFailure(deps, effect, action, result)
    case 'ok': {
      const outcome: HookOutcome = { ...base, outcome: 'ok', ...(result.note !== undefined && { reason: result.note }) }
      const told = result.notify ? { notify: result.notify } : {}
      return { ...told, ...follow(deps, effect, action, outcome, action.hook.on_success?.cascade, null) }
    }
  }
}

/** Moves the task back to the gate that it passed; nothing is asked or run there again. */
function returnToGate(
  deps: BlockDeps,
  { depth }: Pick<Effect, 'depth'>,
  outcome: HookOutcome,
  { gate, reason, annotation, notify }: Extract<PluginResult, { kind: 'returned' }>,
): StepOutcome {
  return {
    kind: 'move',
    outcome,
    rejects: true,
    ...(notify && { notify }),
    move: (tx, task) => {
      const moved = deps.transitions.apply(tx, task, {
        to: gate,
        cause: 'return',
        triggered_by: 'system',
        version: null,
        reason,
        depth: depth + 1,
        patch: { error_annotation: annotation ?? null },
      })
      return !isRefusal(moved)
    },
  }
}

/** Hands the task to a person: moves it to the state for blocked tasks, or keeps it in its state if there is none. */
export function escalate(
  deps: BlockDeps,
  { depth }: Pick<Effect, 'depth'>,
  annotation: ErrorAnnotation,
  outcome: HookOutcome | undefined,
): StepOutcome {
  return {
    kind: 'move',
    annotation,
    ...(outcome && { outcome }),
    move: (tx, task) => {
      blockTask(deps, tx, task, annotation, depth)
      return true
    },
  }
}

/**
 * A failure in before_exit or before_enter blocks the task unless on_failure overrides it. Later phases can't block.
 */
function resolveHookFailure(
  deps: BlockDeps,
  effect: Effect,
  action: Action,
  result: PluginResult & { kind: 'failed' },
): StepOutcome {
  const { phase, hook } = action
  const base = { phase, action: action.action, duration_ms: 0, reason: result.reason }
  const mayHold = phase === 'before_exit' || (phase === 'before_enter' && hook.on_failure === undefined)
  if (mayHold) {
    const annotation: ErrorAnnotation = {
      type: 'hook_failed',
      message: `${action.action} failed at ${phase}: ${result.reason}`.slice(0, 2_000),
      hook: action.action,
      ...result.script,
      ...result.annotation,
      recovery_actions: ['retry_hook', 'skip_hook_once'],
    }
    return { kind: 'block', outcome: { ...base, outcome: 'blocked' }, annotation }
  }
  const cascade = typeof hook.on_failure === 'object' ? hook.on_failure.cascade : undefined
  const told = result.notify ? { notify: result.notify } : {}
  const outcome: HookOutcome = { ...base, outcome: 'failed' }
  return { ...told, ...follow(deps, effect, action, outcome, cascade, result) }
}

/** Continues with the next step, or with a cascade if there is one and it may be followed. */
function follow(
  deps: BlockDeps,
  effect: Effect,
  action: Action,
  outcome: HookOutcome,
  target: string | undefined,
  failure: (PluginResult & { kind: 'failed' }) | null,
): StepOutcome {
  const annotation = failure?.annotation
  const hindrance = target === undefined ? null : cascadeRefusal(effect, action)
  if (target === undefined || hindrance !== null) {
    const withReason = hindrance === null ? {} : { reason: [outcome.reason, hindrance].filter(Boolean).join('; ') }
    return { kind: 'advance', outcome: { ...outcome, ...withReason }, ...(annotation && { annotation }) }
  }
  return {
    kind: 'move',
    outcome,
    move: (tx, current, now) => {
      const moved = deps.transitions.apply(tx, current, {
        to: renamedTarget(now, failure !== null) ?? target,
        cause: 'cascade',
        triggered_by: effect.triggered_by,
        version: null,
        reason: failure?.reason ?? null,
        depth: effect.depth + 1,
        ...(annotation && { patch: { error_annotation: annotation } }),
      })
      if (!isRefusal(moved)) return true
      deps.context.log.warn({ task_id: current.id, code: moved.code }, 'a cascade was refused')
      return false
    },
  }
}

/**
 * Returns the target of the hook that just ended under its name after an edit of the workflow; null if it had none.
 */
function renamedTarget({ steps, cursor }: Effect, failed: boolean): string | null {
  const step = steps?.[cursor]
  if (step?.kind !== 'hook') return null
  const { on_success, on_failure } = step.hook
  if (!failed) return on_success?.cascade ?? null
  return typeof on_failure === 'object' ? on_failure.cascade : null
}

/** Returns why a hook's cascade is not followed, so that the task waits for a person; null if it may be followed. */
function cascadeRefusal(effect: Effect, { phase }: Action): 'cascade_depth' | 'cascade_skipped' | null {
  if (effect.depth >= maxCascades) return 'cascade_depth'
  return phase === 'after_enter' && effect.kind === 'enter' && effect.cascade_skipped ? 'cascade_skipped' : null
}
