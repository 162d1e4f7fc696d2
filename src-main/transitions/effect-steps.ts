import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { Effect, FailedHook } from '../domain/transition/effects.ts'
import { hookAction } from '../domain/transition/pending-hooks.ts'
import { stepsBefore, stepsOf, type Step } from '../domain/transition/phases.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import type { EffectRecord } from '../ports/effect-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

export interface ProgressDeps {
  readonly context: Ground
  readonly transitions: { workflowOf(q: Pick<Queries, 'projects'>, task: TaskRecord): Workflow }
}

/** Returns the steps of an effect in order; after an edit of the workflow, the steps that the effect started with. */
export function stepsOfEffect(deps: ProgressDeps, q: Queries, effect: EffectRecord): readonly Step[] {
  const { data } = effect
  if (data.steps) return data.steps
  const task = q.tasks.get(effect.task_id)
  if (!task) return []
  const workflow = deps.transitions.workflowOf(q, task)
  return data.kind === 'leave' ? stepsBefore(workflow, data.from) : stepsOf(workflow, data.from, data.to)
}

/** Returns the name of a step for the timeline and for errors. */
export function stepName(step: Step): string {
  if (step.kind === 'before_work') return hookAction(step.hook)
  return step.kind === 'hook' ? (step.hook.plugin ?? 'script') : step.kind
}

/** Marks the current step done, saves its outcome and advances the cursor; removes the effect after the last step. */
export function completeStep(
  deps: ProgressDeps,
  tx: Tx,
  effect: EffectRecord,
  done: {
    readonly outcome?: HookOutcome | undefined
    readonly cascade_skipped?: boolean | undefined
    readonly failed?: FailedHook | undefined
  },
): void {
  const task = tx.tasks.get(effect.task_id)
  const steps = stepsOfEffect(deps, tx, effect)
  const step = steps[effect.data.cursor]
  if (task && step) recordOutcome(tx, effect, step, done, task)
  const { process_marker: _marker, blocked: _blocked, ...rest } = effect.data
  const cursor = rest.cursor + 1
  if (cursor >= steps.length) {
    tx.effects.remove(effect.id)
    return
  }
  const next: Effect =
    rest.kind === 'leave'
      ? { ...rest, cursor, outcomes: done.outcome ? [...rest.outcomes, done.outcome] : rest.outcomes }
      : {
          ...rest,
          cursor,
          cascade_skipped: rest.cascade_skipped || (done.cascade_skipped ?? false),
          ...(done.failed && { failed: [...(rest.failed ?? []), done.failed] }),
        }
  tx.effects.update(effect.id, next)
}

/**
 * Cancels the pending work of a task that something newer replaces: moves that hooks have still to allow, and steps
 * that wait for a person. The running steps of an entry continue.
 */
export function cancelPendingMoves(tx: Tx, task: Pick<TaskRecord, 'id' | 'project_id' | 'error_annotation'>): void {
  const isBroken = task.error_annotation?.type === 'hook_failed'
  for (const { id, task_id, data } of tx.effects.ofProject(task.project_id)) {
    if (task_id === task.id && (isBroken || data.blocked || data.kind === 'leave')) tx.effects.remove(id)
  }
}

/** Adds an action's outcome to its transition. A skipped action emits no event; a failed one emits two. */
export function recordOutcome(
  tx: Tx,
  effect: EffectRecord,
  step: Step,
  { outcome, rejects = false }: { readonly outcome?: HookOutcome | undefined; readonly rejects?: boolean },
  task: TaskRecord,
): void {
  if (!outcome || effect.data.kind === 'leave') return
  const entry = tx.transitions.get(effect.data.transition_id)
  if (!entry) return
  tx.transitions.setHooks(entry.id, [...entry.hooks, outcome])
  if (outcome.outcome === 'skipped') return
  const base = { project_id: task.project_id, task_id: task.id }
  tx.emit('hook.finished', { ...base, transition_id: entry.id, hook: outcome })
  // In before_enter, announce a failure only under the hook's own policy; any other blocks the task, which emits an
  // event.
  const hasPolicy = step.kind === 'hook' && step.hook.on_failure !== undefined
  const announces = outcome.phase !== 'before_enter' || hasPolicy
  if (outcome.outcome !== 'failed' || rejects || !announces) return
  tx.emit('transition.effect_failed', {
    ...base,
    phase: outcome.phase,
    action: outcome.action,
    reason: outcome.reason ?? '',
  })
}

/** Records on the newest action, which did succeed, that its cascade was refused. */
export function recordCascadeRefused(tx: Tx, { data }: EffectRecord): void {
  const entry = data.kind === 'enter' ? tx.transitions.get(data.transition_id) : null
  const last = entry?.hooks.at(-1)
  if (!entry || !last) return
  const reason = [last.reason, 'cascade_refused'].filter(Boolean).join('; ')
  tx.transitions.setHooks(entry.id, [...entry.hooks.slice(0, -1), { ...last, reason }])
}
