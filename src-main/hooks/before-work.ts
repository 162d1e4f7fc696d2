import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { EnterEffect, FailedHook } from '../domain/transition/effects.ts'
import type { PendingHooks } from '../domain/transition/pending-hooks.ts'
import type { Step } from '../domain/transition/phases.ts'
import type { StepOutcome, StepContext } from '../transitions/step.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toHookOutcome, runLifecycleHook, type HookDeps, type HookTrigger } from './run-hook.ts'

type BeforeWork = Step & { readonly kind: 'before_work' }

/**
 * Runs one hook before work. It waits for a blocking hook, and for a plugin, which is quick and may add to the agent's
 * prompt; any other script runs beside the next steps. A failure does not stop the next hook.
 */
export async function runBeforeWorkHook(
  deps: HookDeps,
  task: TaskRecord,
  effect: EnterEffect,
  { index, hook }: BeforeWork,
  run: StepContext,
): Promise<StepOutcome> {
  const { from, to, triggered_by, transition_id, cursor } = effect
  if (effect.retry_steps && !effect.retry_steps.includes(cursor)) return { kind: 'advance' }
  const execution = deps.context.store.read.executions.openOfTask(task.id)[0]
  const told = { from, to, triggered_by, agent_id: execution?.agent_id ?? null }
  const moment: HookTrigger = { event: 'before_work', ...told, execution_id: execution?.id ?? null }
  if (hook.type === 'script' && !hook.blocking) {
    const pending: PendingHooks = { ...moment, hooks: [{ index, hook }], transition_id, cursor: 0 }
    return {
      kind: 'advance',
      also: (tx) => {
        tx.pendingHooks.add(task.id, pending)
      },
    }
  }
  const ran = await runLifecycleHook(deps, task, moment, { index, hook }, run)
  const outcome = toHookOutcome(ran, 'before_work', hook)
  if (outcome.outcome !== 'blocked') return { kind: 'advance', outcome }
  const { reason, exit_code, stderr, stdout, log_name } = ran
  const failed: FailedHook = {
    at: cursor,
    hook: `before_work[${index}]`,
    title: (hook.type === 'script' ? hook.command : hook.name).trim().split('\n', 1)[0]?.slice(0, 100) ?? '',
    reason: reason ?? 'failed',
    exit_code,
    stderr_summary: (stderr.trim() || stdout.trim()).slice(-2_000),
    log_name,
  }
  return { kind: 'advance', outcome, failed }
}

/** Blocks the task at its entry if a blocking hook has failed. */
export function blockOnFailedHooks({ failed = [] }: Pick<EnterEffect, 'failed'>): StepOutcome {
  const [first, ...others] = failed
  return first ? { kind: 'block', annotation: annotationOf(first, others.length) } : { kind: 'advance' }
}

function annotationOf(failed: FailedHook, others: number): ErrorAnnotation {
  const { title, reason, hook, exit_code, stderr_summary, log_name } = failed
  const more = others === 0 ? '' : ` ${others} more failed too.`
  return {
    type: 'hook_failed',
    message: `The hook before work failed (${reason}): ${title}.${more} Retry it, or skip it once and say why.`,
    hook,
    exit_code,
    stderr_summary,
    log_name,
    reason,
    recovery_actions: ['retry_hook', 'skip_hook_once'],
  }
}

/** Returns the effect set to run again only the hooks that failed. */
export function retryFailedHooks(effect: EnterEffect): EnterEffect {
  const { blocked: _blocked, failed = [], ...data } = effect
  const retry_steps = failed.map(({ at }) => at)
  return { ...data, retry_steps, cursor: Math.min(...retry_steps) }
}

/** Returns the effect without the first failed hook, which is skipped, and the outcome for the timeline. */
export function skipFirstFailedHook(
  effect: EnterEffect,
  why: string,
): { readonly effect: EnterEffect; readonly outcome: HookOutcome } {
  const { blocked: _blocked, failed = [], ...data } = effect
  const [first, ...rest] = failed
  const step = effect.steps?.[first?.at ?? -1]
  const action = step?.kind === 'before_work' && step.hook.type === 'plugin' ? step.hook.name : 'script'
  return {
    effect: { ...data, failed: rest },
    outcome: {
      phase: 'before_work',
      action,
      outcome: 'skipped',
      reason: why,
      duration_ms: 0,
      ...(first && { log_name: first.log_name }),
    },
  }
}
