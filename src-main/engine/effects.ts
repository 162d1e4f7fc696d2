import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { Effect } from '../domain/transition/effects.ts'
import { stepsOf, type Step } from '../domain/transition/phases.ts'
import { nowIso, type EngineContext } from './context.ts'
import type { Tx } from './event-feed.ts'
import { WorkspaceError } from './ports.ts'
import type { EffectRecord, TaskRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'
import { toTask } from './views.ts'

/** Where a step leads: on to the next, or to another transition. */
export type StepEnd =
  | {
      readonly kind: 'advance'
      readonly outcome?: HookOutcome
      readonly annotation?: ErrorAnnotation
      readonly cascade_skipped?: boolean
    }
  | {
      readonly kind: 'move'
      readonly outcome?: HookOutcome
      readonly annotation?: ErrorAnnotation
      readonly move: (tx: Tx, task: TaskRecord) => void
    }

export interface EffectWorker {
  /** Looks for work of this task; called after every commit that may have left some. */
  wake(task_id: TaskId): void
  /** Ends what is under way for a task, because a newer move superseded it. */
  interrupt(task_id: TaskId): void
  /** Settles once nothing is pending for the task. */
  settled(task_id: TaskId): Promise<void>
  /** Settles once the step of this kind is behind the task (or nothing is left to do). */
  passed(task_id: TaskId, kind: Step['kind']): Promise<void>
  /** Stops taking up work and waits for what is under way to give up. */
  close(): Promise<void>
}

/** What a step runs under. */
export interface StepRun {
  readonly signal: AbortSignal
  /** The mark for the scripts of the step; written down before it is given out. */
  readonly mark: () => string
}

export interface EffectWorkerDeps {
  readonly context: EngineContext
  readonly transitions: Transitions
  readonly perform: (task: TaskRecord, effect: Effect, step: Step, run: StepRun) => Promise<StepEnd>
}

interface Lane {
  abort: AbortController
  running: Promise<void> | null
  again: boolean
}

/** The outbox: takes up each task's pending steps in order, one task beside the other. */
export function createEffectWorker(deps: EffectWorkerDeps): EffectWorker {
  const { context } = deps
  const lanes = new Map<TaskId, Lane>()
  const watchers = new Map<TaskId, Set<() => void>>()
  let closed = false

  const notify = (task_id: TaskId) => {
    for (const watcher of [...(watchers.get(task_id) ?? [])]) watcher()
  }
  const drain = async (task_id: TaskId, lane: Lane): Promise<void> => {
    for (;;) {
      lane.again = false
      const effect = context.store.read.effects.first(task_id)
      if (effect && !closed) {
        const isBroken = await turn(deps, effect, lane.abort.signal)
        notify(task_id)
        // It waits for somebody's word, a newer move or the next start.
        if (isBroken && !lane.again) return
        continue
      }
      if (!lane.again || closed) return
    }
  }
  const wake = (task_id: TaskId) => {
    if (closed) return
    const lane = lanes.get(task_id) ?? { abort: new AbortController(), running: null, again: false }
    lanes.set(task_id, lane)
    lane.again = true
    lane.running ??= drain(task_id, lane)
      .catch((error: unknown) => {
        context.log.error({ err: error, task_id }, 'a step of a transition broke')
      })
      .finally(() => {
        lane.running = null
        if (!lane.again || closed) lanes.delete(task_id)
        else wake(task_id)
        notify(task_id)
      })
  }
  const until = (task_id: TaskId, isReached: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!isReached()) return
        watchers.get(task_id)?.delete(check)
        if (watchers.get(task_id)?.size === 0) watchers.delete(task_id)
        resolve()
      }
      watchers.set(task_id, (watchers.get(task_id) ?? new Set()).add(check))
      check()
    })
  const isIdle = (task_id: TaskId) => !lanes.get(task_id)?.running
  return {
    wake,
    interrupt: (task_id) => {
      const lane = lanes.get(task_id)
      if (!lane?.running) return
      lane.abort.abort()
      lane.abort = new AbortController()
      lane.again = true
    },
    settled: (task_id) => until(task_id, () => isIdle(task_id)),
    passed: (task_id, kind) =>
      until(task_id, () => {
        const effect = context.store.read.effects.first(task_id)
        if (!effect || isIdle(task_id)) return true
        const steps = stepsFor(deps, effect)
        return !steps.slice(effect.data.cursor).some((step) => step.kind === kind)
      }),
    close: async () => {
      closed = true
      for (const lane of lanes.values()) lane.abort.abort()
      await Promise.all([...lanes.values()].flatMap((lane) => lane.running ?? []))
    },
  }
}

function stepsFor(deps: EffectWorkerDeps, effect: EffectRecord): readonly Step[] {
  const { read } = deps.context.store
  const task = read.tasks.get(effect.task_id)
  if (!task) return []
  return stepsOf(deps.transitions.workflowOf(read, task), effect.data.from, effect.data.to)
}

/** One step of one task: perform it, then write down what came of it. Answers whether it broke. */
async function turn(deps: EffectWorkerDeps, effect: EffectRecord, signal: AbortSignal): Promise<boolean> {
  const { context } = deps
  const task = context.store.read.tasks.get(effect.task_id)
  const step = stepsFor(deps, effect)[effect.data.cursor]
  if (!task || !step) {
    context.feed.commit((tx) => {
      tx.effects.remove(effect.id)
    })
    return false
  }
  const started = context.clock.now()
  let end: StepEnd
  try {
    end = await deps.perform(task, effect.data, step, { signal, mark: () => remember(deps, effect) })
  } catch (error) {
    if (signal.aborted) return false
    context.log.error({ err: error, task_id: task.id, step: step.kind }, 'a step of a transition broke')
    showBroken(deps, effect, step, error)
    return true
  }
  if (signal.aborted) return false
  context.feed.commit((tx) => {
    // A newer move took this one's place while it was under way.
    if (tx.effects.first(effect.task_id)?.id !== effect.id) return
    const current = tx.tasks.get(effect.task_id)
    if (!current) return
    note(tx, effect, end.outcome && { ...end.outcome, duration_ms: context.clock.now() - started }, current)
    const annotated = end.annotation ? { ...current, error_annotation: end.annotation } : current
    if (end.kind === 'move') {
      tx.effects.remove(effect.id)
      end.move(tx, annotated)
      return
    }
    advance(deps, tx, effect, end.cascade_skipped ?? false)
    if (step.kind === 'clear_barrier') save(deps, tx, { ...annotated, entry_barrier: false })
    else if (end.annotation) save(deps, tx, annotated)
  })
  return false
}

/** A killed service leaves its scripts behind; the next one ends them before it runs the step anew. */
function remember(deps: EffectWorkerDeps, effect: EffectRecord): string {
  const mark = deps.context.newId()
  deps.context.feed.commit((tx) => {
    if (tx.effects.first(effect.task_id)?.id === effect.id) tx.effects.update(effect.id, { ...effect.data, mark })
  })
  return mark
}

/** The step stays to be done: whoever has put right what was wrong runs it again. */
function showBroken(deps: EffectWorkerDeps, effect: EffectRecord, step: Step, error: unknown): void {
  const known = error instanceof WorkspaceError
  const message = known ? error.message : 'An internal error; the log of the service says more. Try it again.'
  const hook = step.kind === 'hook' ? (step.hook.plugin ?? 'script') : step.kind
  deps.context.feed.commit((tx) => {
    const task = tx.tasks.get(effect.task_id)
    if (!task || tx.effects.first(effect.task_id)?.id !== effect.id) return
    const annotation: ErrorAnnotation = { type: 'hook_failed', message, hook, recovery_actions: ['retry_hook'] }
    save(deps, tx, { ...task, error_annotation: annotation })
  })
}

function advance(deps: EffectWorkerDeps, tx: Tx, effect: EffectRecord, skipped: boolean): void {
  const { mark: _done, ...data } = effect.data
  const cursor = data.cursor + 1
  const cascade_skipped = data.cascade_skipped || skipped
  if (cursor >= stepsFor(deps, effect).length) tx.effects.remove(effect.id)
  else tx.effects.update(effect.id, { ...data, cursor, cascade_skipped })
}

function save(deps: EffectWorkerDeps, tx: Tx, task: TaskRecord): void {
  const saved = { ...task, updated_at: nowIso(deps.context) }
  tx.tasks.put(saved)
  tx.emit('task.updated', { project_id: saved.project_id, task_id: saved.id, task: toTask(tx, saved) })
}

/** Adds an action's outcome to the transition that it belongs to; a failed one is announced. */
function note(tx: Tx, effect: EffectRecord, outcome: HookOutcome | undefined, task: TaskRecord): void {
  if (!outcome) return
  const entry = tx.transitions.get(effect.data.transition_id)
  if (entry) tx.transitions.setHooks(entry.id, [...entry.hooks, outcome])
  const announces = outcome.outcome === 'failed' && outcome.phase !== 'before_enter'
  if (!announces) return
  tx.emit('transition.effect_failed', {
    project_id: task.project_id,
    task_id: task.id,
    phase: outcome.phase,
    action: outcome.action,
    reason: outcome.reason ?? '',
  })
}
