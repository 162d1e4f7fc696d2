import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { EngineContext } from './context.ts'
import { launch, type Launch, type Launched } from './launch.ts'
import type { ExecutionOutcome } from './ports.ts'
import { settleExecution, type StopReason } from './settle-execution.ts'
import type { ExecutionRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'
import type { Worktrees } from './worktrees.ts'

export interface Executions {
  /** Starts a queued execution and follows it to its end. Settles when it has started or failed to. */
  start(execution_id: ExecutionId): Promise<void>
  /** Ends the process tree; settles when it is gone and the row says so. */
  stop(execution_id: ExecutionId, reason: StopReason): Promise<void>
  input(execution_id: ExecutionId, data: string): Promise<void>
  /** Ends one that runs elsewhere, or a person's. */
  finish(execution_id: ExecutionId, outcome: ExecutionOutcome): Promise<void>
  /** Those that this process has started or is starting. */
  running(): ReadonlyMap<ExecutionId, Run>
  /** Settles once nothing of this task runs, or with the signal; after `limit_ms` what is left is stopped. */
  whenIdle(task_id: TaskId, limit_ms: number, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface Run {
  readonly record: ExecutionRecord
  readonly abort: AbortController
  readonly ended: Promise<void>
  live: Launched | null
  stopped: StopReason | null
}

export interface ExecutionsDeps {
  readonly context: EngineContext
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  /** Told when a task has something new to do. */
  readonly wake: (task_id: TaskId) => void
  /** Told when a slot became free. */
  readonly freed: () => void
}

export function createExecutions(deps: ExecutionsDeps): Executions {
  const { context } = deps
  const runs = new Map<ExecutionId, Run>()

  const idle = async (task_id: TaskId, limit_ms: number, except: ExecutionId | null, signal: AbortSignal) => {
    const others = [...runs.values()].filter((run) => run.record.task_id === task_id && run.record.id !== except)
    if (others.length === 0 || signal.aborted) return
    const timer = setTimeout(() => {
      for (const run of others) void run.live?.process.stop()
    }, limit_ms)
    await Promise.race([Promise.all(others.map((run) => run.ended)), aborted(signal)])
    clearTimeout(timer)
  }

  const start = async (execution_id: ExecutionId): Promise<void> => {
    const record = context.store.read.executions.get(execution_id)
    if (record?.status !== 'queued' || runs.has(execution_id)) return
    const ended = Promise.withResolvers<void>()
    const run: Run = { record, abort: new AbortController(), ended: ended.promise, live: null, stopped: null }
    runs.set(execution_id, run)
    const leave = () => {
      runs.delete(execution_id)
      ended.resolve()
      deps.freed()
    }
    const settle = async (outcome: ExecutionOutcome, workspace_gone = false) => {
      try {
        await settleExecution(deps, execution_id, { outcome, stopped: run.stopped, workspace_gone })
      } catch (error) {
        context.log.error({ err: error, execution_id }, 'an ended execution could not be written down')
      }
      leave()
    }
    // One at a time in a worktree: a reviewer that just judged may still be saying goodbye.
    await idle(record.task_id, 60_000, execution_id, run.abort.signal)
    const launched: Launch = run.stopped
      ? { kind: 'failed', outcome: gone('stopped') }
      : await launchSafely(deps, record, run.abort.signal)
    if (launched.kind === 'elsewhere') {
      if (run.stopped) await settle(gone('stopped'))
      else leave()
      return
    }
    if (launched.kind === 'failed') {
      await settle(launched.outcome, launched.workspace_gone)
      return
    }
    run.live = launched
    if (run.stopped) void launched.process.stop()
    void launched.process.outcome.then(settle, (error: unknown) => {
      context.log.error({ err: error, execution_id }, 'an execution ended in an error of the service')
      return settle({ ...gone('stopped'), message: internalError })
    })
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
    await settleExecution(deps, execution_id, { outcome: gone('stopped'), stopped: reason })
    deps.freed()
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
    finish: async (execution_id, outcome) => {
      await settleExecution(deps, execution_id, { outcome, stopped: null })
      deps.freed()
    },
    whenIdle: (task_id, limit_ms, signal) => idle(task_id, limit_ms, null, signal),
    close: async () => {
      await Promise.all([...runs.keys()].map((id) => stop(id, 'stopped')))
    },
  }
}

const internalError = 'An internal error; the log of the service says more.'

/** A bug in the launch must not leave the task saying "running" for ever. */
async function launchSafely(deps: ExecutionsDeps, record: ExecutionRecord, signal: AbortSignal): Promise<Launch> {
  try {
    return await launch(deps.context, deps.worktrees, record, signal)
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', outcome: gone('stopped') }
    deps.context.log.error({ err: error, execution_id: record.id }, 'an execution could not be launched')
    return { kind: 'failed', outcome: { ...gone('failed_to_start'), message: internalError } }
  }
}

function gone(ended: 'stopped' | 'failed_to_start'): ExecutionOutcome {
  return { ended, exit_code: null, session_id: null, usage: null, conclusion: 'done', message: null }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
