import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { ReachedLimit } from './rules/limits.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { modelOf, pricesOf } from './prices.ts'
import { watchLimits, type RunLimits } from './run-limits.ts'
import { createRunMeter, type RunMeter } from './run-meter.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import type { GivenAnswer } from './rules/check-answer.ts'
import type { ModelWait } from './model-wait.ts'
import { createPendingRequests, type PendingRequests } from './pending-requests.ts'
import { nowIso } from '../core/ground.ts'
import type { RunGround } from './run-ground.ts'
import { createDiffStatTracker } from './live-sizes.ts'
import { launch, type LaunchResult, type RunningLaunch, type LaunchRequest } from './launch.ts'
import { takeUp } from './take-up.ts'
import { continueSession } from './messages.ts'
import type { ExecutionOutcome } from '../ports/executors.ts'
import { RunnerUnreachableError } from '../ports/runner-kinds.ts'
import { completeExecution, type StopReason } from './complete-execution.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'
import { othersInWorkspace, workspaceOwner } from '../core/workspace-of.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import type { TaskQueries } from '../ports/task-queries.ts'

/** The runs of agents: at most one in a worktree, and no process of a run outlives it (invariant I7). */
export interface Executions {
  /**
   * Starts a queued execution on a runner (null: its agent is elsewhere) and follows it to its end. Resolves when it has
   * started or failed to start; if the runner can't be reached, it is queued as before.
   */
  start(execution_id: ExecutionId, runner_id: RunnerId | null): Promise<void>
  /** Ends the process tree; resolves when it is gone and the record says so. */
  stop(execution_id: ExecutionId, reason: StopReason): Promise<void>
  input(execution_id: ExecutionId, data: string): Promise<void>
  /** Answers a pending request of the agent; `by` is the person who answers. */
  answer(execution_id: ExecutionId, given: GivenAnswer & { readonly ask_id: string }, by: string): Refusal | null
  /** Ends an external execution, or a person's. */
  finish(execution_id: ExecutionId, outcome: ExecutionOutcome): Promise<void>
  /** Ends an external execution because it reached a limit. */
  endAtLimit(execution_id: ExecutionId, limit: ReachedLimit): Promise<void>
  /** The executions that this process has started or is starting. */
  running(): ReadonlyMap<ExecutionId, ActiveRun>
  /**
   * Resolves once no run uses the task's worktree, or when `signal` aborts. After `limit_ms` the task's own runs are
   * stopped;
   * runs of other tasks that share the worktree take the time that they need.
   */
  waitUntilIdle(task_id: TaskId, limit_ms: number, signal: AbortSignal): Promise<void>
  /** Returns whether a run of another task uses the task's worktree or is about to. */
  isWorktreeShared(task_id: TaskId): boolean
  /** Resolves once no other task has a run in the task's worktree, or when `signal` aborts. */
  waitUntilExclusive(task_id: TaskId, signal: AbortSignal): Promise<void>
  /** Goes on with a run that a runner elsewhere had while the service was not there; returns whether that can be. */
  takeUp(record: ExecutionRecord): Promise<boolean>
  /** Ends the runs, but leaves those alone that other machines have. */
  close(): Promise<void>
}

export interface ActiveRun {
  readonly record: ExecutionRecord
  readonly abort: AbortController
  readonly ended: Promise<void>
  /** The agent's requests that wait for a person's answer. */
  readonly asks: PendingRequests
  live: RunningLaunch | null
  /** Leaves it to the next service; null where it ends with this one, or is ending. */
  leave: (() => Promise<void>) | null
  /** How long its model has not answered; null before its start. */
  modelWait: ModelWait | null
  stopped: StopReason | null
  readonly meter: RunMeter
  /** When the process was started, in milliseconds since the epoch. */
  startedAt: number
  /** The limit that ended the run. */
  limit: ReachedLimit | null
  /** The time of the last activity, in milliseconds since the epoch. */
  lastActivityAt: number
  /** Seconds without activity after which the run was stopped. */
  stalledFor: number | null
  /** An event has reported that the run has no activity. */
  stalled: boolean
}

export interface ExecutionsDeps {
  readonly context: RunGround
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  readonly limits: RunLimits
  /** The runs of this process, which it keeps up to date. */
  readonly runs: Map<ExecutionId, ActiveRun>
  /** Called when a task has new pending steps. */
  readonly wake: (task_id: TaskId) => void
  /** Called when a slot became free. */
  readonly onSlotFreed: () => void
  /** Called when a run could not start because its runner can't be reached. */
  readonly onRunnerUnreachable: (runner_id: RunnerId, message: string) => void
}

export function createExecutions(deps: ExecutionsDeps): Executions {
  const { context, runs } = deps
  const sizes = createDiffStatTracker(context, deps.worktrees)
  let isClosing = false

  const runsOf = (task_id: TaskId) => [...runs.values()].filter((run) => run.record.task_id === task_id)
  const otherRunsInWorktree = (task_id: TaskId) => othersInWorktree(context.store.read, task_id, [...runs.values()])
  /** Stops the remaining runs after `limit_ms`; returns a function that cancels this. */
  const scheduleStop = (left: () => readonly ActiveRun[], limit_ms: number) => {
    const timer = setTimeout(() => {
      for (const run of left()) void run.live?.process.stop()
    }, limit_ms)
    return () => {
      clearTimeout(timer)
    }
  }

  /** Notes a run, and returns what follows it to its end. */
  const open = (record: ExecutionRecord, startedAt: number) => {
    const execution_id = record.id
    const ended = Promise.withResolvers<void>()
    const run: ActiveRun = {
      record,
      abort: new AbortController(),
      ended: ended.promise,
      live: null,
      leave: null,
      modelWait: null,
      stopped: null,
      meter: createRunMeter(modelOf(context.store.read, record), pricesOf(context.store.read, record)),
      startedAt,
      limit: null,
      asks: createPendingRequests(context, record),
      lastActivityAt: context.clock.now(),
      stalled: false,
      stalledFor: null,
    }
    const onActivity = () => {
      run.lastActivityAt = context.clock.now()
      if (run.stalled) emitActive(context, run)
    }
    const watch = watchLimits(context, deps.limits, run)
    const onEntry = (entry: TranscriptEntry) => {
      run.meter.add(entry)
      // Deferred until the run has processed whether this entry ends its turn.
      if (entry.type === 'usage') queueMicrotask(watch.look)
    }
    const onModelWait = (wait: ModelWait) => {
      run.modelWait = wait
    }
    runs.set(execution_id, run)
    const forget = () => {
      runs.delete(execution_id)
      ended.resolve()
      deps.onSlotFreed()
    }
    let unfollow: (() => Promise<void>) | null = null
    const unwatch = async () => {
      run.leave = null
      run.asks.close()
      watch.end()
      await unfollow?.()
    }
    const settle = async (outcome: ExecutionOutcome, workspace_gone = false) => {
      try {
        await unwatch()
        const usage = run.meter.usage(outcome.usage)
        const { stopped, limit, stalledFor: stalled } = run
        const end = { outcome: { ...outcome, usage }, stopped, limit, stalled, workspace_gone }
        await completeExecution(deps, execution_id, end)
      } catch (error) {
        context.log.error({ err: error, execution_id }, 'an ended execution could not be written down')
      }
      run.live?.process.settle?.()
      forget()
    }
    const follow = ({ process, kind }: RunningLaunch) => {
      run.live = { process, kind }
      const { leave } = process
      if (leave)
        run.leave = async () => {
          // Its questions stay open: no one has answered them.
          const left = leave()
          await unwatch()
          await left
        }
      watch.look()
      unfollow = sizes.follow(record.task_id, onActivity)
      if (run.stopped) void process.stop()
      void process.outcome.then(settle, (error: unknown) => {
        context.log.error({ err: error, execution_id }, 'an execution ended in an error of the service')
        return settle({ ...emptyOutcome('stopped'), message: internalError })
      })
    }
    const watchers = { record, onActivity, onEntry, onModelWait, asks: run.asks }
    return { run, watchers, follow, settle, forget, unwatch }
  }

  const start: Executions['start'] = async (execution_id, runner_id) => {
    const found = context.store.read.executions.get(execution_id)
    if (found?.status !== 'queued' || runs.has(execution_id)) return
    const record = { ...found, runner_id }
    const { run, watchers, follow, settle, forget, unwatch } = open(record, context.clock.now())
    // Only one process per worktree: wait for the previous reviewer to exit.
    const before = runsOf(record.task_id).filter((other) => other !== run)
    const cancel = scheduleStop(() => before, shutdownGraceMs)
    await waitForRuns(before, run.abort.signal)
    cancel()
    const launched: LaunchResult = run.stopped
      ? { kind: 'failed', outcome: emptyOutcome('stopped') }
      : await launchSafely(deps, watchers, run.abort.signal)
    deps.wake(record.task_id)
    if (isClosing && !run.stopped && launched.kind !== 'running') {
      await unwatch()
      forget()
      return
    }
    if (launched.kind === 'remote') {
      if (run.stopped) await settle(emptyOutcome('stopped'))
      else forget()
      return
    }
    if (launched.kind === 'unreachable') {
      if (run.stopped) await settle(emptyOutcome('stopped'))
      else {
        if (runner_id !== null) deps.onRunnerUnreachable(runner_id, launched.message)
        await unwatch()
        forget()
      }
      return
    }
    if (launched.kind === 'failed') {
      await settle(launched.outcome, launched.workspace_gone)
      return
    }
    run.startedAt = context.clock.now()
    follow(launched)
    if (!isClosing || run.stopped || !run.leave) return
    await run.leave()
    forget()
  }

  const stop = async (execution_id: ExecutionId, reason: StopReason): Promise<void> => {
    const run = runs.get(execution_id)
    if (run) {
      run.stopped ??= reason
      run.abort.abort()
      await run.live?.process.stop()
      await run.ended
      return
    }
    await completeExecution(deps, execution_id, { outcome: emptyOutcome('stopped'), stopped: reason })
    deps.onSlotFreed()
  }

  return {
    start,
    stop,
    running: () => runs,
    input: async (execution_id, data) => {
      const live = runs.get(execution_id)?.live
      if (!live) throw new BugError(`Execution ${execution_id} takes no input here.`)
      await live.process.input(data)
    },
    answer: (execution_id, { ask_id, ...given }, by) => runs.get(execution_id)?.asks.answer(ask_id, given, by) ?? null,
    finish: async (execution_id, outcome) => {
      await completeExecution(deps, execution_id, { outcome, stopped: null })
      deps.onSlotFreed()
    },
    endAtLimit: async (execution_id, limit) => {
      await completeExecution(deps, execution_id, { outcome: emptyOutcome('stopped'), stopped: null, limit })
      deps.onSlotFreed()
    },
    waitUntilIdle: async (task_id, limit_ms, signal) => {
      const cancel = scheduleStop(() => runsOf(task_id), limit_ms)
      await until(() => [...runsOf(task_id), ...otherRunsInWorktree(task_id)], signal)
      cancel()
    },
    isWorktreeShared: (task_id) => {
      const task = context.store.read.tasks.get(task_id)
      const open = task ? othersInWorkspace(context.store.read, task) : []
      return otherRunsInWorktree(task_id).length > 0 || open.some((one) => one.status === 'running')
    },
    waitUntilExclusive: (task_id, signal) => until(() => otherRunsInWorktree(task_id), signal),
    takeUp: async (record) => {
      const { run, watchers, follow, forget, unwatch } = open(record, Date.parse(record.started_at ?? nowIso(context)))
      const taken = await takeUp(context, { ...watchers, meter: run.meter }).catch((error: unknown) => {
        context.log.error({ err: error, execution_id: record.id }, 'a run elsewhere could not be taken up')
        return null
      })
      if (taken) follow(taken)
      else {
        await unwatch()
        forget()
      }
      return taken !== null
    },
    close: async () => {
      isClosing = true
      const ended = [...runs].map(async ([id, { leave, live, record, stopped, abort, ended: end }]) => {
        const isStarting = live === null && stopped === null && (record.runner_id ?? hereRunner) !== hereRunner
        if (leave) return await leave()
        if (!isStarting) return await stop(id, 'stopped')
        // It is queued as before, for the next service.
        abort.abort()
        await end
      })
      await Promise.all(ended)
    },
  }
}

/** Output may produce no visible entry, so emit an activity event when a stalled agent becomes active. */
function emitActive(context: RunGround, run: ActiveRun): void {
  const { project_id, task_id, id } = run.record
  run.stalled = false
  const occurred_at = nowIso(context)
  context.feed.activity({ project_id, task_id, execution_id: id, text: 'Working', quiet_since: null, occurred_at })
}

/** How long an agent may run on after it has completed its role. */
export const shutdownGraceMs = 60_000

const internalError = 'Internal error. The Copse log has details.'

/** Catches a bug in the launch, which would otherwise leave the task "running" for ever. */
async function launchSafely(deps: ExecutionsDeps, run: LaunchRequest, signal: AbortSignal): Promise<LaunchResult> {
  try {
    const { runner_id } = run.record
    const record = { ...(await continueSession(deps.context, run.record)), runner_id }
    // A failed launch releases everything that it took, so it can be repeated after a failed write.
    return await deps.context.writes.untilWritten(
      () => launch(deps.context, deps.worktrees, { ...run, record }, signal),
      signal,
    )
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', outcome: emptyOutcome('stopped') }
    if (error instanceof RunnerUnreachableError) return { kind: 'unreachable', message: error.message }
    deps.context.log.error({ err: error, execution_id: run.record.id }, 'an execution could not be launched')
    return { kind: 'failed', outcome: { ...emptyOutcome('failed_to_start'), message: internalError } }
  }
}

function emptyOutcome(ended: 'stopped' | 'failed_to_start'): ExecutionOutcome {
  return { ended, exit_code: null, session_id: null, usage: null, conclusion: 'done', message: null }
}

/** Returns the runs that other tasks have in this task's worktree. */
function othersInWorktree(
  q: { readonly tasks: TaskQueries },
  task_id: TaskId,
  runs: readonly ActiveRun[],
): readonly ActiveRun[] {
  const task = q.tasks.get(task_id)
  if (!task) return []
  const owner = workspaceOwner(q, task).id
  return runs.filter(({ record }) => {
    const other = record.task_id === task_id ? null : q.tasks.get(record.task_id)
    return other !== null && workspaceOwner(q, other).id === owner
  })
}

/**
 * Resolves once no run is left, or when `signal` aborts; checks again at every end, because another run may have
 * started.
 */
async function until(left: () => readonly ActiveRun[], signal: AbortSignal): Promise<void> {
  for (let runs = left(); runs.length > 0 && !signal.aborted; runs = left()) await waitForRuns(runs, signal)
}

async function waitForRuns(runs: readonly ActiveRun[], signal: AbortSignal): Promise<void> {
  if (runs.length === 0) return
  await settleOrAbort(Promise.all(runs.map((run) => run.ended)), signal)
}
