import type { Client } from '../../src-shared/client/create-client.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Activity, EventEnvelope, HookActivity, WorktreeChange } from '../../src-shared/contract/events.ts'

/** The state of the connection to the service. `lostAt`: the time from which the shown data may be outdated. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'reconnecting'; readonly lostAt: number; readonly nextTryAt: number }

export interface LiveOptions {
  readonly client: Client
  onEvent(event: EventEnvelope): void
  onActivity(activity: Activity): void
  onWorktree(change: WorktreeChange): void
  onHook(hook: HookActivity): void
  /**
   * Reloads everything: at the start, and whenever events may have been missed. Returns whether all
   * of it was loaded; if not, the next connection calls again.
   */
  onReset(): Promise<boolean>
  onConnection(connection: Connection): void
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export interface Live {
  /** Reconnects now instead of waiting for the back-off. */
  tryNow(): void
  close(): void
}

/** Waits between tries, in milliseconds; the last one repeats. */
export const retryDelay: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 15_000]

/** Keeps one subscription to the events open, and resumes after the last seen number. */
export function openEventStream(options: LiveOptions): Live {
  const closing = new AbortController()
  let waiting = new AbortController()
  let lastSeq: number | null = null
  let lostAt: number | null = null
  let attempt = 0
  /** Whether missed data has not been reloaded yet. */
  let isStale = true
  let loads = 0

  async function loadAll(): Promise<void> {
    const load = ++loads
    isStale = true
    const isComplete = await options.onReset()
    if (load === loads) isStale = !isComplete
  }

  /** Reads until the connection is lost. */
  async function follow(): Promise<void> {
    for await (const item of options.client.events({}, lastSeq, closing.signal)) {
      if (item.kind === 'begun') begin(item.seq)
      else if (item.kind === 'activity') options.onActivity(item.activity)
      else if (item.kind === 'worktree') options.onWorktree(item.change)
      else if (item.kind === 'hook') options.onHook(item.hook)
      else if (item.kind === 'reset') {
        lastSeq = item.seq
        void loadAll()
      } else {
        lastSeq = item.event.seq
        options.onEvent(item.event)
      }
    }
  }

  /** Loads only after the subscription has begun, so the data can't be older than it. */
  function begin(seq: number): void {
    lastSeq = seq
    attempt = 0
    lostAt = null
    options.onConnection({ state: 'live' })
    if (isStale) void loadAll()
  }

  async function run(): Promise<void> {
    options.onConnection({ state: 'connecting' })
    while (!closing.signal.aborted) {
      try {
        await follow()
      } catch (error) {
        if (!isLoss(error)) throw error
      }
      if (closing.signal.aborted) return
      lostAt ??= options.now()
      const pause = retryDelay[Math.min(attempt, retryDelay.length - 1)] ?? 15_000
      attempt += 1
      options.onConnection({ state: 'reconnecting', lostAt, nextTryAt: options.now() + pause })
      waiting = new AbortController()
      await options.wait(pause, AbortSignal.any([closing.signal, waiting.signal]))
    }
  }

  void run()
  return { tryNow: () => waiting.abort(), close: () => closing.abort() }
}

/**
 * Returns whether an error means a lost connection. Even a refusal does, because the token may be
 * renewed, so the page keeps trying.
 */
function isLoss(error: unknown): boolean {
  return error instanceof ApiError || error instanceof Error
}
