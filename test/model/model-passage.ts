import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import { admits, type Graph } from './model-graph.ts'
import type { ModelEntry, ModelTask, Point } from './model-task.ts'
import { actionOf, type Result, type SeenHook, type Who } from './model-types.ts'

/** How long a chain of automatic transitions may get. */
const depthLimit = 3

export type Answers = (hook: StateHook, phase: HookPhase) => Result

export interface Move {
  readonly to: string
  readonly by: Who
  readonly rejection?: boolean
  /** Cancelling asks no hook. */
  readonly unasked?: boolean
  readonly depth?: number
  readonly annotation?: string
}

/** The order of a transition's hook points, and what each outcome leads to. */
export interface Passages {
  /** Runs before_exit, then commits; false when a hook said no and nothing changed. */
  begin(move: Move): boolean
  /** Goes on with what is left, until the task rests or a hook holds the barrier. */
  proceed(): void
  /** The gate says no: back to its target, or to the people when its budget is used up. */
  reject(by: Who, depth: number): void
}

export function createPassages(graph: Graph, task: ModelTask, answers: () => Answers): Passages {
  const note = (entry: ModelEntry, phase: HookPhase, hook: StateHook, outcome: SeenHook['outcome']) => {
    entry.hooks.push({ phase, action: actionOf(hook), outcome })
  }

  function begin(move: Move): boolean {
    const from = task.state
    const entry: ModelEntry = { from, to: move.to, by: move.by, rejection: move.rejection ?? false, hooks: [] }
    if (!move.unasked && !askLeave(entry)) return false
    commit(entry, move)
    return true
  }

  function askLeave(entry: ModelEntry): boolean {
    for (const hook of graph.hooks(entry.from, 'before_exit')) {
      const result = admits(hook.applies_to, entry.by) ? answers()(hook, 'before_exit') : 'skipped'
      if (result === 'failed' || result === 'rejected') return false
      note(entry, 'before_exit', hook, result)
    }
    return true
  }

  function commit(entry: ModelEntry, move: Move): void {
    const leave = graph.hooks(entry.from, 'on_exit').map(at('on_exit'))
    const wait = graph.hooks(entry.to, 'before_enter').map(at('before_enter'))
    const enter = graph.hooks(entry.to, 'on_enter').map(at('on_enter'))
    const after = graph.hooks(entry.to, 'after_enter').map(at('after_enter'))
    task.state = entry.to
    task.barrier = true
    task.version += 1
    task.annotation = move.annotation ?? null
    task.ended = null
    task.execution = null
    if (task.review === 'running') task.review = 'cancelled'
    if (graph.hasReview(entry.to)) task.review = 'running'
    task.audit.push(entry)
    task.events.push({ type: 'transitioned', from: entry.from, to: entry.to, by: entry.by })
    if (entry.rejection) task.rejections.set(entry.from, (task.rejections.get(entry.from) ?? 0) + 1)
    const points = [...leave, ...wait, { kind: 'barrier_down' } as const, ...enter, ...after]
    task.passage = { entry, depth: move.depth ?? 0, points, lacked: false }
  }

  function proceed(): void {
    while (task.passage) {
      const { passage } = task
      const point = passage.points.shift()
      if (!point) task.passage = null
      else if (point.kind === 'barrier_down') task.barrier = false
      else if (!pass(point.phase, point.hook)) {
        passage.points.unshift(point)
        return
      }
    }
  }

  /** False when the hook holds the barrier. */
  function pass(phase: HookPhase, hook: StateHook): boolean {
    const { passage } = task
    if (!passage) return true
    const { entry } = passage
    const heard = admits(hook.applies_to, entry.by)
    const result = heard ? answers()(hook, phase) : 'skipped'
    note(entry, phase, hook, result === 'rejected' ? 'failed' : result)
    if (result === 'ok') onSuccess(phase, hook)
    else if (result === 'skipped') passage.lacked ||= heard && phase === 'on_enter'
    else if (result === 'rejected' && phase === 'before_enter' && graph.state(entry.to).kind === 'gate') {
      if (graph.hasReview(entry.to)) task.review = 'failed'
      reject('system', passage.depth)
    } else return onFailure(phase, hook)
    return true
  }

  function onSuccess(phase: HookPhase, hook: StateHook): void {
    if (phase === 'after_enter' && hook.on_success && !task.passage?.lacked) cascade(hook.on_success.cascade)
  }

  function onFailure(phase: HookPhase, hook: StateHook): boolean {
    if (phase === 'before_enter' && hook.on_failure === undefined) {
      task.annotation = 'hook_failed'
      return false
    }
    task.events.push({ type: 'effect_failed', phase, action: actionOf(hook) })
    if (typeof hook.on_failure === 'object') cascade(hook.on_failure.cascade)
    return true
  }

  function cascade(to: string): void {
    const { passage } = task
    if (!passage || passage.depth >= depthLimit) return
    begin({ to, by: passage.entry.by, depth: passage.depth + 1 })
  }

  function reject(by: Who, depth: number): void {
    const gate = graph.state(task.state)
    const budget = gate.gate_config?.max_rejections
    const spent = task.rejections.get(gate.name) ?? 0
    if (budget !== undefined && spent >= budget && by !== 'user') {
      const annotation = 'retry_budget_exhausted'
      if (graph.blocked === null || graph.blocked === gate.name) {
        task.annotation = annotation
      } else begin({ to: graph.blocked, by, annotation, depth })
      return
    }
    begin({ to: gate.gate_config?.reject_target ?? gate.name, by, rejection: true, depth })
  }

  return { begin, proceed, reject }
}

const at =
  (phase: HookPhase) =>
  (hook: StateHook): Point => ({ kind: 'hook', phase, hook })
