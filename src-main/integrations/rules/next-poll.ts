/** After failures, a tracker is asked again within an hour at the latest, or its interval if that is longer. */
const longestBackOffMs = 3_600_000

/** The longest pause that a tracker's headers may demand. */
const longestPauseMs = 86_400_000

/** Up to this share of the wait is added at random, so that many pollers do not ask at once. */
const jitter = 0.1

export interface PollFacts {
  /** Milliseconds since the epoch, like all times in this file. */
  readonly now: number
  readonly interval_ms: number
  /** The number of failed cycles in a row. */
  readonly failures: number
  /** The tracker's rate limits forbid a request before this time. */
  readonly not_before: number | null
  /** A random number from 0 to 1. */
  readonly chance: number
}

/** Returns when to ask a tracker next: never before its interval, and later with each failure. */
export function nextPoll({ now, interval_ms, failures, not_before, chance }: PollFacts): number {
  const maxMs = Math.max(interval_ms, longestBackOffMs)
  const wait = Math.min(maxMs, interval_ms * 2 ** Math.min(failures, 20))
  return Math.max(now + Math.round(wait * (1 + jitter * chance)), not_before ?? 0)
}

export interface LimitFacts {
  readonly now: number
  /** Reads a response header by its lower-case name. */
  readonly header: (name: string) => string | null
}

/**
 * Returns the time before which a response's headers forbid another request; null if they don't. The tracker's clock
 * may differ from this machine's, so times in headers are taken relative to its `Date`.
 */
export function pausedUntil({ now, header }: LimitFacts): number | null {
  const there = Date.parse(header('date') ?? '')
  const skew = Number.isNaN(there) ? 0 : there - now
  const retry = readRetryAfter(header('retry-after'), skew)
  if (retry !== null) return within(now, typeof retry === 'number' ? now + retry : retry.at)
  // GitLab's have no `x-`.
  const limit = (name: string) => header(`x-ratelimit-${name}`) ?? header(`ratelimit-${name}`)
  if (limit('remaining')?.trim() !== '0') return null
  const reset = Number(limit('reset') ?? NaN)
  return within(now, Number.isFinite(reset) ? reset * 1_000 - skew : now + 60_000)
}

/** Returns a duration in milliseconds, or a time by this machine's clock. */
function readRetryAfter(value: string | null, skew: number): number | { readonly at: number } | null {
  if (value === null) return null
  if (/^\d+$/.test(value.trim())) return Number(value) * 1_000
  const moment = Date.parse(value)
  return Number.isNaN(moment) ? null : { at: moment - skew }
}

function within(now: number, moment: number): number {
  return Math.min(Math.max(moment, now + 1_000), now + longestPauseMs)
}

/** Changes this old are requested again although they were seen: clocks are inexact, and responses take time. */
const overlapMs = 60_000

/**
 * Returns the time from which the next cycle requests changes: the start of this cycle by the earlier of both clocks,
 * so nothing is missed whichever is wrong.
 */
export function sinceOf(started: number, tracker_date: number | null): string {
  return new Date(Math.min(started, tracker_date ?? started) - overlapMs).toISOString()
}
