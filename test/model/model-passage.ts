import type { HookPhase, StateHook } from '../../src-shared/contract/workflow-definition.ts'
import { admits, type Graph } from './model-graph.ts'
import type { ModelEntry, ModelTask, Move, Passage, Point } from './model-task.ts'
import { actionOf, type Result, type SeenHook } from './model-types.ts'

/** The longest chain of automatic transitions. */
const depthLimit = 3

export type Answers = (hook: StateHook, phase: HookPhase) => Result

/** The phases of a transition in order, and what each outcome leads to. */
export interface Passages {
  /** For a waiting caller: asks before_exit now; false if it refuses, and nothing has changed. */
  ask(move: Move): boolean
  /** Without a waiting caller: asks before_exit on the way, which blocks the task if it refuses. */
  follow(move: Move): void
  /** No hook of the source can refuse. */
  force(move: Move): void
  /** A rejection by the gate: back to its target, or to people if its budget is used up. */
  reject(move: Pick<Move, 'by' | 'depth'>, isAsked: boolean): boolean
  /** Continues with the remaining steps until the task rests or a hook blocks it. */
  proceed(): void
  /** Asks the blocking hook again, or skips it this once. */
  release(isSkipped: boolean): void
}

export function createPassages(graph: Graph, task: ModelTask, answers: () => Answers): Passages {
  const passages: Passages = {
    ask: (move) => {
      const entry = entryOf(task, move)
      for (const hook of graph.hooks(task.state, 'before_exit')) {
        const result = resultOf(entry, hook, 'before_exit')
        if (result === 'failed') return false
        entry.hooks.push({ phase: 'before_exit', action: actionOf(hook), outcome: outcomeOf(result, true) })
      }
      commit(graph, task, { move, entry, points: [], lacked: false, held: false })
      return true
    },
    follow: (move) => {
      const points = [...graph.hooks(task.state, 'before_exit').map(at('before_exit')), { kind: 'move' } as const]
      task.passage = { move, entry: entryOf(task, move), points, lacked: false, held: false }
    },
    force: (move) => commit(graph, task, { move, entry: entryOf(task, move), points: [], lacked: false, held: false }),
    reject: (move, isAsked) => {
      const { name, gate_config } = graph.state(task.state)
      const budget = gate_config?.max_rejections
      const isUsedUp = budget !== undefined && move.by !== 'user' && (task.rejections.get(name) ?? 0) >= budget
      if (isUsedUp || (move.depth ?? 0) > depthLimit) {
        escalate(move)
        return true
      }
      const back = { ...move, to: gate_config?.reject_target ?? name, rejection: true }
      if (isAsked) return passages.ask(back)
      passages.follow(back)
      return true
    },
    proceed: () => {
      for (let passage = task.passage; passage && !passage.held; passage = task.passage) {
        const point = passage.points.shift()
        if (!point) task.passage = null
        else if (point.kind === 'move') commit(graph, task, passage)
        else if (point.kind === 'barrier_down') task.barrier = false
        else if (!pass(passage, point.phase, point.hook)) {
          passage.points.unshift(point)
          passage.held = true
        }
      }
    },
    release: (isSkipped) => {
      if (!task.passage) return
      task.passage.held = false
      if (!isSkipped) return
      const point = task.passage.points.shift()
      if (point?.kind !== 'hook') return
      task.passage?.entry.hooks.push({ phase: point.phase, action: actionOf(point.hook), outcome: 'skipped' })
    },
  }

  function resultOf(entry: ModelEntry, hook: StateHook, phase: HookPhase): Result {
    return admits(hook.applies_to, entry.by) ? answers()(hook, phase) : 'skipped'
  }

  /** Returns false if the hook blocks the task. */
  function pass(passage: Passage, phase: HookPhase, hook: StateHook): boolean {
    const { entry } = passage
    const result = resultOf(entry, hook, phase)
    const holds = result === 'failed' && (phase === 'before_exit' || (phase === 'before_enter' && !hook.on_failure))
    if (phase !== 'before_exit' || !holds) {
      entry.hooks.push({ phase, action: actionOf(hook), outcome: outcomeOf(result, holds) })
    }
    if (holds) task.annotation = 'hook_failed'
    else if (result === 'lacking') passage.lacked ||= phase === 'on_enter'
    else if (result === 'skipped') return true
    else if (result === 'rejected') passages.reject({ by: 'system', depth: (passage.move.depth ?? 0) + 1 }, false)
    else if (result === 'failed') {
      task.events.push({ type: 'effect_failed', phase, action: actionOf(hook) })
      if (typeof hook.on_failure === 'object') cascade(passage, phase, hook.on_failure.cascade)
    } else if (hook.on_success) cascade(passage, phase, hook.on_success.cascade)
    return !holds
  }

  /** Nothing follows the entry if a step it depends on was skipped. */
  function cascade({ move, lacked }: Passage, phase: HookPhase, to: string): void {
    const depth = move.depth ?? 0
    if (lacked && phase === 'after_enter') return
    if (depth < depthLimit && !graph.terminal(task.state)) passages.follow({ to, by: move.by, depth: depth + 1 })
  }

  /** Moves to the state for blocked tasks; without one the task stays. */
  function escalate(move: Pick<Move, 'by' | 'depth'>): void {
    const annotation = 'retry_budget_exhausted'
    failReview(graph, task)
    if (graph.blocked !== null && graph.blocked !== task.state) {
      passages.force({ ...move, by: 'system', to: graph.blocked, annotation })
      return
    }
    task.annotation = annotation
    task.barrier = false
    task.passage = null
    task.execution = null
  }

  return passages
}

const entryOf = (task: ModelTask, move: Move): ModelEntry => ({
  from: task.state,
  to: move.to,
  by: move.by,
  rejection: move.rejection ?? false,
  hooks: [],
})

function outcomeOf(result: Result, holds: boolean): SeenHook['outcome'] {
  if (result === 'ok') return 'ok'
  if (result === 'skipped' || result === 'lacking') return 'skipped'
  return holds ? 'blocked' : 'failed'
}

/** A rejected task has not passed its review. */
function failReview(graph: Graph, task: ModelTask, gate = task.state): void {
  if (graph.hasReview(gate) && (task.review === 'running' || task.review === 'passed')) task.review = 'failed'
}

/** Status, audit and barrier change at once, with the steps that follow in order. */
function commit(graph: Graph, task: ModelTask, { move, entry }: Passage): void {
  const leave = graph.hooks(entry.from, 'on_exit').map(at('on_exit'))
  const wait = graph.hooks(entry.to, 'before_enter').map(at('before_enter'))
  const enter = graph.hooks(entry.to, 'on_enter').map(at('on_enter'))
  const after = graph.hooks(entry.to, 'after_enter').map(at('after_enter'))
  task.state = entry.to
  task.barrier = true
  task.version += 1
  task.annotation = move.annotation ?? null
  task.execution = null
  if (entry.rejection) failReview(graph, task, entry.from)
  if (task.review === 'running') task.review = 'cancelled'
  if (graph.hasReview(entry.to)) task.review = 'running'
  task.audit.push(entry)
  task.events.push({ type: 'transitioned', from: entry.from, to: entry.to, by: entry.by })
  if (entry.by === 'user') task.rejections.clear()
  else if (entry.rejection) task.rejections.set(entry.from, (task.rejections.get(entry.from) ?? 0) + 1)
  const points = [...leave, ...wait, { kind: 'barrier_down' } as const, ...enter, ...after]
  task.passage = { move, entry, points, lacked: false, held: false }
}

const at =
  (phase: HookPhase) =>
  (hook: StateHook): Point => ({ kind: 'hook', phase, hook })
