interface SyncFacts {
  readonly state: string
  readonly mergeable: boolean | null
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
  { state, mergeable, checks, failures }: SyncFacts,
  { now, interval_secs }: { readonly now: number; readonly interval_secs: number },
): number {
  const intervalMs = interval_secs * 1_000
  if (failures > 0) return now + Math.min(Math.max(intervalMs, longestMs), intervalMs * 2 ** Math.min(failures, 10))
  if (state === 'closed') return now + Math.max(intervalMs, closedMs)
  const isBusy = mergeable === null || checks.items.some((one) => one.state === 'queued' || one.state === 'running')
  return now + (isBusy ? Math.min(intervalMs, busyMs) : intervalMs)
}

const hourMs = 3_600_000

/** Returns whether everything is to be read, though the forge tells no change: some changes it doesn't tell. */
export function isAllDue(read_all_at: string | null, now: number): boolean {
  return read_all_at === null || Date.parse(read_all_at) + hourMs <= now
}
