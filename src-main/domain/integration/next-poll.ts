/** However often a tracker fails, it is asked again within an hour, or the interval if that is longer. */
const longestBackOffMs = 3_600_000

/** A tracker that asks for more patience than this is asked again anyway. */
const longestPauseMs = 86_400_000

/** Up to this part of the wait is added by chance, so that many do not ask at the same moment. */
const jitter = 0.1

export interface PollFacts {
  /** Milliseconds since the epoch, like every time here. */
  readonly now: number
  readonly interval_ms: number
  /** Cycles that failed, one after the other. */
  readonly failures: number
  /** The tracker's own limits forbid a request before this. */
  readonly not_before: number | null
  /** From 0 to 1. */
  readonly chance: number
}

/** When a tracker is asked next: never sooner than its interval, ever later while it fails. */
export function nextPoll({ now, interval_ms, failures, not_before, chance }: PollFacts): number {
  const most = Math.max(interval_ms, longestBackOffMs)
  const wait = Math.min(most, interval_ms * 2 ** Math.min(failures, 20))
  return Math.max(now + Math.round(wait * (1 + jitter * chance)), not_before ?? 0)
}

export interface LimitFacts {
  readonly now: number
  /** Headers of the answer, by their small names. */
  readonly header: (name: string) => string | null
}

/**
 * Until when an answer's headers forbid another request; null: they do not. The tracker's clock may differ from
 * this machine's, so that a moment of its is taken relative to the `Date` it sent.
 */
export function pausedUntil({ now, header }: LimitFacts): number | null {
  const there = Date.parse(header('date') ?? '')
  const skew = Number.isNaN(there) ? 0 : there - now
  const retry = readRetryAfter(header('retry-after'), skew)
  if (retry !== null) return within(now, typeof retry === 'number' ? now + retry : retry.at)
  if (header('x-ratelimit-remaining')?.trim() !== '0') return null
  const reset = Number(header('x-ratelimit-reset') ?? NaN)
  return within(now, Number.isFinite(reset) ? reset * 1_000 - skew : now + 60_000)
}

/** Seconds as milliseconds, or a moment by this machine's clock. */
function readRetryAfter(value: string | null, skew: number): number | { readonly at: number } | null {
  if (value === null) return null
  if (/^\d+$/.test(value.trim())) return Number(value) * 1_000
  const moment = Date.parse(value)
  return Number.isNaN(moment) ? null : { at: moment - skew }
}

function within(now: number, moment: number): number {
  return Math.min(Math.max(moment, now + 1_000), now + longestPauseMs)
}

/** What is asked for again although it was seen: clocks are not exact, and answers take time. */
const overlapMs = 60_000

/**
 * From when on the next cycle asks for changes: the earlier of both clocks' ideas of when this one began, so
 * that nothing is missed whichever is wrong.
 */
export function sinceOf(started: number, tracker_date: number | null): string {
  return new Date(Math.min(started, tracker_date ?? started) - overlapMs).toISOString()
}
