interface SyncFacts {
  readonly state: string
  readonly mergeable: boolean | null
  /** When its commit was first seen, ISO 8601. */
  readonly head_since: string
  readonly checks: { readonly items: readonly { readonly state: string }[] }
  /** Number of failed tries in a row. */
  readonly failures: number
}

const busyMs = 30_000
const longestMs = 3_600_000
/** A closed pull request is looked at seldom: a person may open it again. */
const closedMs = 1_800_000

/**
 * Returns when to ask for a pull request next, in milliseconds since the epoch: sooner while checks run or the forge
 * works something out, later with each failure.
 */
export function nextSync(
  facts: SyncFacts,
  { now, interval_secs }: { readonly now: number; readonly interval_secs: number },
): number {
  const { state, mergeable, checks, failures } = facts
  const intervalMs = interval_secs * 1_000
  if (failures > 0) return now + Math.min(Math.max(intervalMs, longestMs), intervalMs * 2 ** Math.min(failures, 10))
  if (state === 'closed') return now + Math.max(intervalMs, closedMs)
  const isBusy =
    mergeable === null ||
    mayStillBegin(facts, now) ||
    checks.items.some((one) => one.state === 'queued' || one.state === 'running')
  return now + (isBusy ? Math.min(intervalMs, busyMs) : intervalMs)
}

const beginMs = 60_000

/** Returns whether a commit without any check is so new that its checks may begin yet. */
export function mayStillBegin({ checks, head_since }: Pick<SyncFacts, 'checks' | 'head_since'>, now: number): boolean {
  return checks.items.length === 0 && Date.parse(head_since) + beginMs > now
}

const termMs = 1_200_000

/** Returns whether a poll is the first in its third of an hour: for what is to be asked for seldom while nothing happens. */
export function isTermNew(synced_at: string | null, now: number): boolean {
  return synced_at === null || Math.floor(Date.parse(synced_at) / termMs) < Math.floor(now / termMs)
}

const hourMs = 3_600_000

/** Returns whether everything is to be read, though the forge tells no change: some changes it doesn't tell. */
export function isAllDue(read_all_at: string | null, now: number): boolean {
  return read_all_at === null || Date.parse(read_all_at) + hourMs <= now
}
