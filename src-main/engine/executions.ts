import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { conclude, type Conclusion } from '../domain/task/conclude.ts'
import { forwardOf, roleOf } from '../domain/workflow/graph.ts'
import { nowIso, type EngineContext } from './context.ts'
import type { Tx } from './event-feed.ts'
import { launch, type Launch, type Launched } from './launch.ts'
import type { ExecutionOutcome } from './ports.ts'
import type { ExecutionRecord, TaskRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'
import { toExecution, toTask } from './views.ts'
import type { Worktrees } from './worktrees.ts'

export type StopReason = 'stopped' | 'cancelled'

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
  /** Settles once nothing of this task runs; after `limit_ms` what is left is stopped. */
  whenIdle(task_id: TaskId, limit_ms: number): Promise<void>
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

  const idle = async (task_id: TaskId, limit_ms: number, except: ExecutionId | null): Promise<void> => {
    const others = [...runs.values()].filter((run) => run.record.task_id === task_id && run.record.id !== except)
    if (others.length === 0) return
    const timer = setTimeout(() => {
      for (const run of others) void run.live?.process.stop()
    }, limit_ms)
    await Promise.all(others.map((run) => run.ended))
    clearTimeout(timer)
  }

  const start = async (execution_id: ExecutionId): Promise<void> => {
    const record = context.store.read.executions.get(execution_id)
    if (record?.status !== 'queued' || runs.has(execution_id)) return
    const ended = Promise.withResolvers<void>()
    const run: Run = { record, abort: new AbortController(), ended: ended.promise, live: null, stopped: null }
    runs.set(execution_id, run)
    const settle = async (outcome: ExecutionOutcome) => {
      try {
        await settleRun(deps, execution_id, outcome, run.stopped)
      } catch (error) {
        context.log.error({ err: error, execution_id }, 'an ended execution could not be written down')
      } finally {
        runs.delete(execution_id)
        ended.resolve()
        deps.freed()
      }
    }
    // One at a time in a worktree: a reviewer that just judged may still be saying goodbye.
    await idle(record.task_id, 60_000, execution_id)
    const launched = await launchSafely(deps, record, run.abort.signal)
    if (launched.kind === 'elsewhere') {
      runs.delete(execution_id)
      ended.resolve()
      deps.freed()
      return
    }
    if (launched.kind === 'failed') {
      await settle(launched.outcome)
      return
    }
    run.live = launched
    if (run.stopped) void launched.process.stop()
    void launched.process.outcome.then(settle)
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
    await settleRun(deps, execution_id, gone('stopped'), reason)
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
      await settleRun(deps, execution_id, outcome, null)
      deps.freed()
    },
    whenIdle: (task_id, limit_ms) => idle(task_id, limit_ms, null),
    close: async () => {
      await Promise.all([...runs.keys()].map((id) => stop(id, 'stopped')))
    },
  }
}

/** A bug in the launch must not leave the task saying "running" for ever. */
async function launchSafely(deps: ExecutionsDeps, record: ExecutionRecord, signal: AbortSignal): Promise<Launch> {
  try {
    return await launch(deps.context, deps.worktrees, record, signal)
  } catch (error) {
    deps.context.log.error({ err: error, execution_id: record.id }, 'an execution could not be launched')
    return {
      kind: 'failed',
      outcome: { ...gone('failed_to_start'), message: 'An internal error; the log of the service says more.' },
    }
  }
}

function gone(ended: 'stopped' | 'failed_to_start'): ExecutionOutcome {
  return { ended, exit_code: null, session_id: null, usage: null, conclusion: 'done', message: null }
}

/** Writes an end down and, in the same transaction, what follows from it. */
async function settleRun(
  deps: ExecutionsDeps,
  id: ExecutionId,
  outcome: ExecutionOutcome,
  stopped: StopReason | null,
): Promise<void> {
  const { context } = deps
  const before = context.store.read.executions.get(id)
  if (!before || (before.status !== 'running' && before.status !== 'queued')) return
  const { changed, diff_stat } = await measure(deps, before)
  const conclusion = conclude({
    outcome,
    stopped,
    changed,
    has_session: (outcome.session_id ?? before.session_id) !== null,
  })
  context.agentTokens.revoke(id)
  context.feed.commit((tx) => {
    const record: ExecutionRecord = {
      ...before,
      status: conclusion.status,
      exit_code: outcome.exit_code,
      session_id: outcome.session_id ?? before.session_id,
      usage: outcome.usage ?? before.usage,
      error: conclusion.error,
      pid: null,
      pid_started: null,
      finished_at: nowIso(context),
    }
    tx.executions.put(record)
    tx.emit('execution.finished', {
      project_id: record.project_id,
      task_id: record.task_id,
      execution: toExecution(record),
    })
    const task = tx.tasks.get(record.task_id)
    if (!task) return
    const settled: TaskRecord = {
      ...task,
      diff_stat: diff_stat ?? task.diff_stat,
      active_execution_id: task.active_execution_id === id ? null : task.active_execution_id,
    }
    followUp(deps, tx, settled, record, conclusion)
  })
  deps.wake(before.task_id)
}

/** The coder is done: forward. Anything else: the task stays and says what is the matter. */
function followUp(
  deps: ExecutionsDeps,
  tx: Tx,
  task: TaskRecord,
  record: ExecutionRecord,
  conclusion: Conclusion,
): void {
  const workflow = deps.transitions.workflowOf(tx, task)
  const state = workflow.states.get(task.status)
  const isItsTurn = state !== undefined && roleOf(state) === record.role
  const next = state && forwardOf(workflow, state)
  if (conclusion.status === 'succeeded' && isItsTurn && state.kind === 'active' && next) {
    const moved = deps.transitions.apply(tx, task, {
      to: next.name,
      cause: 'forward',
      triggered_by: 'system',
      version: null,
      reason: null,
    })
    if (!isRefusal(moved)) return
    keep(deps.context, tx, {
      ...task,
      error_annotation: annotate('execution_incomplete', moved.message, record.id, ['retry_execution']),
    })
    return
  }
  const openGate = isItsTurn && state.kind === 'gate' && tx.reviews.latest(task.id)?.status === 'running'
  if (conclusion.status === 'succeeded' && openGate && !task.entry_barrier) {
    const text = 'It ended without a verdict. Judge the work yourself, or run it again.'
    keep(deps.context, tx, {
      ...task,
      error_annotation: annotate('execution_incomplete', text, record.id, ['retry_execution']),
    })
    return
  }
  const { annotation } = conclusion
  const error_annotation =
    annotation && isItsTurn
      ? { ...annotation, recovery_actions: [...annotation.recovery_actions], execution_id: record.id }
      : task.error_annotation
  keep(deps.context, tx, { ...task, error_annotation })
}

function keep(context: EngineContext, tx: Tx, task: TaskRecord): void {
  const kept = { ...task, updated_at: nowIso(context) }
  tx.tasks.put(kept)
  tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, kept) })
}

function annotate(
  type: ErrorAnnotation['type'],
  message: string,
  execution_id: ExecutionId,
  recovery_actions: ErrorAnnotation['recovery_actions'],
): ErrorAnnotation {
  return { type, message, recovery_actions, execution_id, reason: 'nothing_done' }
}

/** Whether the run left anything in the worktree, and how large the branch is now. */
async function measure(deps: ExecutionsDeps, record: ExecutionRecord) {
  const { context, worktrees } = deps
  const workspace = context.store.read.workspaces.byTask(record.task_id)
  if (!workspace || record.start_commit === null) return { changed: true, diff_stat: null }
  const ref = await worktrees.ref(workspace)
  const { path } = ref
  if (path === null) return { changed: true, diff_stat: null }
  const signal = AbortSignal.timeout(60_000)
  try {
    const [status, diff_stat] = await Promise.all([
      context.workspaces.status({ ...ref, path }, { signal }),
      context.workspaces.diffStat(ref, { signal }),
    ])
    return { changed: status.dirty || status.head !== record.start_commit, diff_stat }
  } catch (error) {
    context.log.warn({ err: error, task_id: record.task_id }, 'a worktree could not be measured')
    return { changed: true, diff_stat: null }
  }
}
