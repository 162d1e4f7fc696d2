import { reapScripts } from '../core/reap-scripts.ts'
import type { HookEvent } from '../../src-shared/contract/lifecycle-hooks.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import { createOutbox } from '../core/outbox.ts'
import type { Tx } from '../core/event-feed.ts'
import type { PendingHooksRecord } from '../ports/effect-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { toHookOutcome, runLifecycleHook, type HookDeps } from './run-hook.ts'
import { HookAborted } from './script-hook.ts'

export interface HookQueue {
  /** Checks a task for pending hooks; called after every commit that may have added some. */
  wake(task_id: TaskId): void
  /** Resolves once the hooks of these events that are pending now for a task have run, or when `signal` aborts. */
  waitUntilDrained(task_id: TaskId, events: readonly HookEvent[], signal: AbortSignal): Promise<void>
  /** Ends the running hooks of a task and drops the pending ones. */
  end(task_id: TaskId): Promise<void>
  /** Ends processes that a killed service left running, and drops hooks that only mattered during a run. */
  recover(): Promise<void>
  /** Aborts running hooks; the next start runs them again. */
  close(): Promise<void>
}

export interface HookQueueDeps extends HookDeps {
  /** Resolves once no run uses the task's worktree. */
  readonly waitUntilIdle: (task_id: TaskId, signal: AbortSignal) => Promise<void>
}

interface RunningHook {
  readonly task_id: TaskId
  readonly event: HookEvent
  readonly abort: AbortController
}

type Lane = `${TaskId} ${HookEvent}`
const laneOf = (task_id: TaskId, event: HookEvent): Lane => `${task_id} ${event}`

/** Events whose hooks must not outlive the run. */
const workEvents: readonly HookEvent[] = ['before_work', 'on_work_start']
/** How long a hook of a run may continue after the run's end. */
const graceMs = 30_000

/**
 * Runs lifecycle hooks beside the transitions, without holding them up. Hooks of one event run in order, also across
 * its occurrences; different events run side by side, so that a hook that stops something need not wait for the one
 * that started it.
 */
export function createHookQueue(deps: HookQueueDeps): HookQueue {
  const { context } = deps
  const { read } = context.store
  const runningHooks = new Map<number, RunningHook>()
  const graces = new Set<NodeJS.Timeout>()
  let closed = false

  const outbox = createOutbox<Lane, PendingHooksRecord>({
    next: (lane) => {
      const [task_id, event] = lane.split(' ') as [TaskId, HookEvent]
      return read.pendingHooks.ofTask(task_id).find(({ data }) => data.event === event) ?? null
    },
    perform: async (record, closing) => {
      const { id, task_id, data } = record
      const abort = new AbortController()
      runningHooks.set(id, { task_id, event: data.event, abort })
      try {
        await runHooks(deps, record, AbortSignal.any([closing, abort.signal]))
      } catch (error) {
        // Hooks that the end of the service aborts run again at the next start; other aborted hooks don't.
        if (closing.aborted) return 'wait'
        if (!abort.signal.aborted)
          context.log.error({ err: error, task_id, event: data.event }, 'the hooks of a task broke')
        await drop(deps, id)
      } finally {
        runningHooks.delete(id)
        if (!workEvents.includes(data.event)) endWorkSoon(task_id)
      }
      return 'done'
    },
    onBroken: (error, lane) => {
      context.log.error({ err: error, lane }, 'the end of a hook could not be written')
    },
  })
  const ofTask = (task_id: TaskId) => [...runningHooks.values()].filter((one) => one.task_id === task_id)
  const wake = (task_id: TaskId): void => {
    for (const { data } of read.pendingHooks.ofTask(task_id)) outbox.wake(laneOf(task_id, data.event))
  }
  /** If new work has begun by then, its hooks are newer and continue. */
  const endWorkSoon = (task_id: TaskId): void => {
    const left = ofTask(task_id).filter(({ event }) => workEvents.includes(event))
    if (left.length === 0 || closed) return
    const timer = setTimeout(() => {
      graces.delete(timer)
      for (const { abort } of left) abort.abort(new HookAborted())
    }, graceMs)
    timer.unref()
    graces.add(timer)
  }
  return {
    wake,
    waitUntilDrained: async (task_id, events, signal) => {
      const noted = read.pendingHooks.ofTask(task_id).filter(({ data }) => events.includes(data.event))
      wake(task_id)
      const isGone = (id: number) => () => read.pendingHooks.get(id) === null
      await Promise.all(noted.map(({ id, data }) => outbox.until(laneOf(task_id, data.event), isGone(id), signal)))
    },
    end: async (task_id) => {
      const noted = read.pendingHooks.ofTask(task_id)
      context.feed.commit((tx) => {
        for (const { id } of tx.pendingHooks.ofTask(task_id)) if (!runningHooks.has(id)) tx.pendingHooks.remove(id)
      })
      for (const { abort } of ofTask(task_id)) abort.abort(new HookAborted())
      // Wake the lanes, so that callers waiting for the dropped hooks check again.
      for (const { data } of noted) outbox.wake(laneOf(task_id, data.event))
      const isOver = (id: number) => () => !runningHooks.has(id)
      await Promise.all(noted.map(({ id, data }) => outbox.until(laneOf(task_id, data.event), isOver(id))))
    },
    recover: async () => {
      for (const task_id of read.pendingHooks.pendingTasks()) await recoverTask(deps, task_id)
    },
    close: async () => {
      closed = true
      for (const timer of graces) clearTimeout(timer)
      await outbox.close()
    },
  }
}

/** Runs the remaining hooks of an event in order; a failure does not stop the next. */
async function runHooks(deps: HookQueueDeps, { id, task_id }: PendingHooksRecord, signal: AbortSignal): Promise<void> {
  const { context } = deps
  const { read } = context.store
  for (let record = read.pendingHooks.get(id); record; record = read.pendingHooks.get(id)) {
    const { data } = record
    const placed = data.hooks[data.cursor]
    const task = read.tasks.get(task_id)
    if (!placed || !task) {
      await drop(deps, id)
      return
    }
    // The agent may still be writing its last file.
    if (data.event === 'on_work_stop' && data.cursor === 0) await deps.waitUntilIdle(task_id, signal)
    signal.throwIfAborted()
    const run = await context.writes.untilWritten(
      () => runLifecycleHook(deps, task, data, placed, { signal, processMarker: () => saveProcessMarker(deps, id) }),
      signal,
    )
    await context.writes.untilWritten(() =>
      context.feed.commit((tx) => {
        const current = tx.pendingHooks.get(id)
        if (!current) return
        const { process_marker: _done, ...rest } = current.data
        const cursor = rest.cursor + 1
        if (cursor < rest.hooks.length) tx.pendingHooks.update(id, { ...rest, cursor })
        else tx.pendingHooks.remove(id)
        recordOutcome(tx, task, current, toHookOutcome(run, data.event, placed.hook))
      }),
    )
  }
}

function recordOutcome(tx: Tx, task: TaskRecord, { data }: PendingHooksRecord, outcome: HookOutcome): void {
  const entry = data.transition_id === null ? null : tx.transitions.get(data.transition_id)
  if (entry) tx.transitions.setHooks(entry.id, [...entry.hooks, outcome])
  const { project_id, id: task_id } = task
  tx.emit('hook.finished', { project_id, task_id, transition_id: entry?.id ?? null, hook: outcome })
}

async function drop({ context }: HookQueueDeps, id: number): Promise<void> {
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      tx.pendingHooks.remove(id)
    }),
  )
}

/** Saves the marker before the script starts, so that after a crash the next start can kill leftover processes. */
function saveProcessMarker({ context }: HookQueueDeps, id: number): string {
  const processMarker = context.newId()
  context.feed.commit((tx) => {
    const current = tx.pendingHooks.get(id)
    if (current) tx.pendingHooks.update(id, { ...current.data, process_marker: processMarker })
  })
  return processMarker
}

/** Leaves aborted hooks pending, except hooks that matter only during a run. */
async function recoverTask({ context }: HookQueueDeps, task_id: TaskId): Promise<void> {
  const { read } = context.store
  for (const { id, data } of read.pendingHooks.ofTask(task_id)) {
    if (data.process_marker !== undefined) await reapScripts(context, task_id, data.process_marker)
    const isOver = workEvents.includes(data.event) && read.executions.openOfTask(task_id).length === 0
    context.feed.commit((tx) => {
      const { process_marker: _gone, ...rest } = data
      if (isOver) tx.pendingHooks.remove(id)
      else tx.pendingHooks.update(id, rest)
    })
  }
}
