import type { Cleanup } from '../workspaces/cleanup.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import type { Executions, ActiveRun } from '../executions/executions.ts'
import type { RemoteRuns } from '../executions/remote-runs.ts'
import { markExecutionLost } from '../executions/mark-execution-lost.ts'
import type { OutboxWorker } from '../steps/outbox-worker.ts'
import type { StepServices } from '../steps/step-services.ts'
import { isElsewhere, loseRun, type LostDeps } from './recovery.ts'
import type { Attachments } from '../tasks/attachments.ts'
import type { Rescues } from '../workspaces/rescues.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { pause } from '../core/pause.ts'
import { toSettings } from '../core/views.ts'

/** An external execution without a heartbeat for this long is lost. */
const heartbeatLimitMs = 90_000
const sweepEveryMs = 15_000
/** A longer gap between two sweeps means that this machine was asleep, when no heartbeat could arrive. */
const sleptMs = 60_000
/** A longer gap is no silence of a run on this machine, which may end it, although heartbeats from elsewhere may be due. */
const pausedMs = sweepEveryMs + 5_000

/** Pause between small steps of shrinking the file. */
const shrinkPauseMs = 5
const stepsPerCheckpoint = 50

/** Periodic checks: due clean-ups, expired rescues, silent agents, and pending work that nothing performs. */
export interface Sweeps {
  start(): void
  /** Resolves when the last sweep has ended. */
  close(): Promise<void>
}

export interface SweepParts extends LostDeps, Pick<StepServices, 'hookQueue'> {
  readonly attachments: Pick<Attachments, 'sweep'>
  readonly cleanup: Pick<Cleanup, 'sweep'>
  readonly rescues: Pick<Rescues, 'sweep'>
  readonly executions: Pick<Executions, 'running'>
  readonly remoteRuns: Pick<RemoteRuns, 'sweep'>
  readonly worker: Pick<OutboxWorker, 'isIdle' | 'wake'>
  /** Called when a worktree becomes free. */
  readonly onSlotFreed: () => void
}

export function createSweeps(parts: SweepParts): Sweeps {
  const { context, hookQueue, attachments, cleanup, rescues, executions, remoteRuns, onSlotFreed } = parts
  const guarded = (what: string, work: () => void) => {
    try {
      work()
    } catch (error) {
      context.log.error({ err: error }, `the sweep of ${what} broke; the next one tries again`)
    }
  }
  const closing = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let sweeping = Promise.resolve()
  let looked = 0
  /** When the machine was last found to have slept, or its clock to have been set. */
  let awake = 0
  /** When this machine last went on after a pause, however short. */
  let resumed = 0
  const lastSign = (lastActivityAt: number) => (lastActivityAt > looked ? awake : Math.max(lastActivityAt, awake))
  let shrinking: Promise<void> | null = null
  const shrink = async () => {
    // Shrinks the file only after a deletion is complete.
    if (context.store.read.projects.deleted().length > 0 || !context.store.shrink()) return
    for (let steps = 1; context.store.shrink() && !closing.signal.aborted; steps++) {
      if (steps % stepsPerCheckpoint === 0) await context.store.checkpoint()
      else await pause(shrinkPauseMs, [closing.signal])
    }
  }
  const sweep = () => {
    const now = context.clock.now()
    if (now < looked || now - looked > sleptMs) awake = now
    if (now < looked || now - looked > pausedMs) resumed = now
    looked = now
    sweeping = sweeping
      .then(() => cleanup.sweep(closing.signal))
      .then(() => rescues.sweep(closing.signal))
      .then(() => (closing.signal.aborted ? undefined : attachments.sweep()))
      .catch((error: unknown) => {
        if (!closing.signal.aborted) context.log.error({ err: error }, 'the clean-up sweep broke')
      })
      .then(() => (closing.signal.aborted ? undefined : loseUnfollowed(parts)))
      .catch((error: unknown) => {
        context.log.error({ err: error }, 'a run that no one follows could not be settled')
      })
    shrinking ??= shrink()
      .catch((error: unknown) => {
        context.log.warn({ err: error }, 'free pages of the database could not be given back')
      })
      .finally(() => {
        shrinking = null
      })
    guarded('silent agents', () => {
      const silenceOf = (run: ActiveRun) =>
        now - Math.max(lastSign(run.lastActivityAt), resumed, contactAt(context, run, now))
      emitStalled(parts, executions.running().values(), silenceOf)
      endStalled(parts, executions.running().values(), silenceOf)
    })
    guarded('limits of agents elsewhere', () => remoteRuns.sweep())
    guarded('lost agents', () => {
      for (const record of context.store.read.executions.open()) {
        const lastActivityAt = remoteActivityAt(context, record)
        if (lastActivityAt === null || now - lastSign(lastActivityAt) <= heartbeatLimitMs) continue
        markExecutionLost(
          parts,
          record,
          'No heartbeat from the agent for 90 seconds. Restart the agent, or reassign the task.',
        )
        hookQueue.wake(record.task_id)
        onSlotFreed()
      }
    })
    guarded('tasks that no one works on', () => {
      wakeIdle(parts)
      onSlotFreed()
    })
  }
  return {
    start: () => {
      looked = context.clock.now()
      sweep()
      timer = setInterval(sweep, sweepEveryMs)
    },
    close: () => {
      if (timer) clearInterval(timer)
      closing.abort()
      return Promise.all([sweeping, shrinking]).then(() => undefined)
    },
  }
}

/** Ends local runs that the database calls running but no part of this process supervises. */
async function loseUnfollowed(parts: SweepParts): Promise<void> {
  const { context, executions, hookQueue, onSlotFreed } = parts
  const { read } = context.store
  for (const { id, status } of read.executions.queue()) {
    const record = status === 'running' ? read.executions.get(id) : null
    if (record?.status !== 'running' || isElsewhere(context, record) || executions.running().has(id)) continue
    context.log.error({ execution_id: id, task_id: record.task_id }, 'a run that no one follows is settled as lost')
    await loseRun(parts, record, 'The service lost track of the agent. What it had written is in the worktree.')
    hookQueue.wake(record.task_id)
    onSlotFreed()
  }
}

/** Starts pending steps and hooks that nothing performs. Blocked and broken ones wait for a person. */
function wakeIdle({ context, worker, hookQueue }: SweepParts): void {
  const { read } = context.store
  for (const task_id of read.effects.pendingTasks()) {
    const isBroken = read.tasks.get(task_id)?.error_annotation?.type === 'hook_failed'
    if (worker.isIdle(task_id) && !isBroken && !read.effects.first(task_id)?.data.blocked) worker.wake(task_id)
  }
  for (const task_id of read.pendingHooks.pendingTasks()) hookQueue.wake(task_id)
}

/** Returns since when an agent elsewhere can be heard, which is not yet while its runner is out of contact. */
function contactAt({ store }: Ground, { record }: ActiveRun, now: number): number {
  const link = store.read.executions.get(record.id)?.link ?? null
  if (link === null) return 0
  return link.state === 'lost' ? now : Date.parse(link.since)
}

/** Emits that agents were silent for long. They keep running: an hour of thinking may be right. */
function emitStalled(
  { context }: Pick<StepServices, 'context'>,
  runs: Iterable<ActiveRun>,
  silenceOf: (run: ActiveRun) => number,
): void {
  for (const run of runs) {
    const { record, lastActivityAt, live, asks } = run
    const project = context.store.read.projects.get(record.project_id)
    // An agent that waits for a person is not silent.
    if (live === null || run.stalled || asks.pending().length > 0 || !project) continue
    if (silenceOf(run) < toSettings(project).stall_after_seconds * 1_000) continue
    run.stalled = true
    context.feed.activity({
      project_id: record.project_id,
      task_id: record.task_id,
      execution_id: record.id,
      text: 'Quiet',
      quiet_since: new Date(lastActivityAt).toISOString(),
      occurred_at: nowIso(context),
    })
  }
}

/** Stops runs that were silent for as long as their project allows; their end starts a retry. */
function endStalled(
  { context }: Pick<StepServices, 'context'>,
  runs: Iterable<ActiveRun>,
  silenceOf: (run: ActiveRun) => number,
): void {
  for (const run of runs) {
    const { record, live, asks, stopped, limit } = run
    const project = context.store.read.projects.get(record.project_id)
    const seconds = project ? toSettings(project).stall_seconds : null
    if (live === null || seconds === null || asks.pending().length > 0) continue
    if (run.stalledFor !== null || stopped !== null || limit !== null || silenceOf(run) < seconds * 1_000) continue
    run.stalledFor = seconds
    void live.process.stop()
  }
}

/** Returns the last heartbeat of an external agent; null for others, which are watched directly. */
function remoteActivityAt(context: Ground, record: ExecutionRecord): number | null {
  if (record.status !== 'running' || record.executor === 'person' || record.last_heartbeat_at === null) return null
  return context.places.of(record.task_id).runs.location(record.executor) === 'local'
    ? null
    : Date.parse(record.last_heartbeat_at)
}
