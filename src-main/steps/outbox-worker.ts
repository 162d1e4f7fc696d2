import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { Step } from '../domain/transition/phases.ts'
import type { Ground } from '../core/ground.ts'
import {
  completeStep,
  stepName,
  recordOutcome,
  recordCascadeRefused,
  stepsOfEffect,
} from '../transitions/effect-steps.ts'
import { createOutbox } from '../core/outbox.ts'
import { HookAborted } from '../hooks/script-hook.ts'
import { notify } from '../core/notify.ts'
import type { StepContext, StepOutcome } from '../transitions/step.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { EffectRecord, PendingHooksRecord } from '../ports/effect-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'

export interface OutboxWorker {
  /** Checks a task for pending steps; called after every commit that may have added some. */
  wake(task_id: TaskId): void
  /** Aborts the running step of a task because a newer move superseded it. */
  interrupt(task_id: TaskId): void
  /** Returns whether no step of the task is running. */
  isIdle(task_id: TaskId): boolean
  /** Resolves once no step of the task is pending. */
  waitUntilDrained(task_id: TaskId): Promise<void>
  /** Resolves when no step is pending except steps that wait for on_task_done or on_task_cancel hooks. */
  waitUntilEntered(task_id: TaskId): Promise<void>
  /** Resolves once the step of this kind is done, or when the task has no steps left. */
  waitForStep(task_id: TaskId, kind: Step['kind']): Promise<void>
  /** Starts no more steps and waits until the running ones have ended. */
  close(): Promise<void>
}

export interface OutboxWorkerDeps {
  readonly context: Ground
  readonly transitions: Transitions
  readonly perform: (task: TaskRecord, effect: Effect, step: Step, run: StepContext) => Promise<StepOutcome>
  /** Checks a task for pending lifecycle hooks. */
  readonly wakeHooks: (task_id: TaskId) => void
  /** Called when a hook moved the task out of this state: ends the runs that work for the state. Never rejects. */
  readonly onStateLeft: (task_id: TaskId, state: string) => Promise<void>
}

/** Creates the worker that performs each task's pending steps in order, the tasks side by side. */
export function createOutboxWorker(deps: OutboxWorkerDeps): OutboxWorker {
  const { context } = deps
  const { read } = context.store
  const outbox = createOutbox<TaskId, EffectRecord>({
    next: (task_id) => {
      const effect = read.effects.first(task_id)
      return effect?.data.blocked ? null : effect
    },
    // After an error, stop here: a person, a newer move or the next start must continue.
    perform: async (effect, signal) => ((await runNextStep(deps, effect, signal)) ? 'wait' : 'done'),
    onBroken: (error, task_id) => {
      context.log.error({ err: error, task_id }, 'a step of a transition broke')
    },
  })
  const { isIdle, until, close } = outbox
  return {
    wake: (task_id) => {
      deps.wakeHooks(task_id)
      outbox.wake(task_id)
    },
    isIdle,
    interrupt: (task_id) => {
      outbox.interrupt(task_id, () => new HookAborted())
    },
    waitUntilDrained: (task_id) => until(task_id, () => isIdle(task_id)),
    waitUntilEntered: (task_id) =>
      until(task_id, () => {
        const isEnding = ({ data }: PendingHooksRecord) =>
          data.event === 'on_task_done' || data.event === 'on_task_cancel'
        return isIdle(task_id) || read.pendingHooks.ofTask(task_id).some(isEnding)
      }),
    waitForStep: (task_id, kind) =>
      until(task_id, () => {
        const effect = read.effects.first(task_id)
        if (!effect || isIdle(task_id)) return true
        const steps = stepsOfEffect(deps, read, effect)
        return !steps.slice(effect.data.cursor).some((step) => step.kind === kind)
      }),
    close,
  }
}

/** Performs one step of a task, then saves its result. Returns whether the step threw. */
async function runNextStep(deps: OutboxWorkerDeps, effect: EffectRecord, signal: AbortSignal): Promise<boolean> {
  const { context } = deps
  const task = context.store.read.tasks.get(effect.task_id)
  const step = stepsOfEffect(deps, context.store.read, effect)[effect.data.cursor]
  if (!task || !step) {
    await context.writes.untilWritten(() =>
      context.feed.commit((tx) => {
        tx.effects.remove(effect.id)
      }),
    )
    return false
  }
  const started = context.clock.now()
  let end: StepOutcome
  try {
    // If the result can't be saved, the step counts as not done and is run again, as after a crash.
    end = await context.writes.untilWritten(
      () => deps.perform(task, effect.data, step, { signal, processMarker: () => saveProcessMarker(deps, effect) }),
      signal,
    )
  } catch (error) {
    if (signal.aborted) return false
    context.log.error({ err: error, task_id: task.id, step: step.kind }, 'a step of a transition broke')
    await context.writes.untilWritten(() => showBroken(deps, effect, step, error))
    return true
  }
  if (signal.aborted) return false
  const duration_ms = context.clock.now() - started
  const timed: StepOutcome = end.outcome ? { ...end, outcome: { ...end.outcome, duration_ms } } : end
  await context.writes.untilWritten(() => saveStepResult(deps, effect, step, timed))
  deps.wakeHooks(task.id)
  const now = context.store.read.tasks.get(task.id)
  if (end.kind === 'move' && now && now.version !== task.version) await deps.onStateLeft(task.id, task.status)
  return end.kind === 'block'
}

/** Writes the result of a step; if a newer move has replaced this one, it does nothing else. */
function saveStepResult(deps: OutboxWorkerDeps, begun: EffectRecord, step: Step, end: StepOutcome): void {
  const { context } = deps
  context.feed.commit((tx) => {
    // While the step ran, an edit of the workflow may have changed the effect.
    const effect = tx.effects.first(begun.task_id)
    const current = tx.tasks.get(begun.task_id)
    if (!current) return
    if (effect?.id !== begun.id) {
      // A newer move has replaced this one, but the step was performed, so the timeline must show its result.
      recordOutcome(tx, begun, step, end, current)
      return
    }
    const annotated = end.annotation ? { ...current, error_annotation: end.annotation } : current
    if (end.kind === 'move') {
      recordOutcome(tx, effect, step, end, current)
      if (end.move(tx, annotated, effect.data)) tx.effects.remove(effect.id)
      else {
        recordCascadeRefused(tx, effect)
        completeStep(deps, tx, effect, {})
      }
    } else if (end.kind === 'block') {
      recordOutcome(tx, effect, step, end, current)
      const { process_marker: _done, ...data } = effect.data
      tx.effects.update(effect.id, { ...data, blocked: true })
      tx.saveTask(annotated)
    } else {
      completeStep(deps, tx, effect, end)
      if (step.kind === 'clear_barrier') tx.saveTask({ ...annotated, entry_barrier: false })
      else if (end.annotation) tx.saveTask(annotated)
    }
    end.also?.(tx)
    if (end.notify) notify(context, tx, current, end.notify)
  })
}

/** Saves the marker before the script starts, so that after a crash the next start can kill leftover processes. */
function saveProcessMarker(deps: OutboxWorkerDeps, effect: EffectRecord): string {
  const processMarker = deps.context.newId()
  deps.context.feed.commit((tx) => {
    const current = tx.effects.first(effect.task_id)
    if (current?.id === effect.id) tx.effects.update(effect.id, { ...current.data, process_marker: processMarker })
  })
  return processMarker
}

/** Leaves the step pending so that a retry or the next start runs it again. */
function showBroken(deps: OutboxWorkerDeps, effect: EffectRecord, step: Step, error: unknown): void {
  const known = error instanceof WorkspaceError
  const message = known ? error.message : 'Internal error. The Copse log has details. Try it again.'
  deps.context.feed.commit((tx) => {
    const task = tx.tasks.get(effect.task_id)
    if (!task || tx.effects.first(effect.task_id)?.id !== effect.id) return
    const annotation: ErrorAnnotation = {
      type: 'hook_failed',
      message,
      hook: stepName(step),
      recovery_actions: step.kind === 'hook' ? ['retry_hook', 'skip_hook_once'] : ['retry_hook'],
    }
    tx.saveTask({ ...task, error_annotation: annotation })
  })
}
