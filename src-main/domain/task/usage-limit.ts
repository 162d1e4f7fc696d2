const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const units: Readonly<Record<string, number>> = { s: 1_000, m: minute, h: hour, d: day, w: 7 * day }

/**
 * Returns when a provider says that its usage limit resets, in milliseconds since the epoch; null if it does not say.
 * `zone` is this machine's time zone, for times without one.
 */
export function readReset(text: string, now: number, zone: string): number | null {
  const at = readEpoch(text) ?? readSpan(text, now) ?? readTimeOfDay(text, now, zone)
  // A time in the past or far in the future is a number with another meaning.
  return at !== null && at > now - hour && at < now + 40 * day ? at : null
}

/** Reads `limit reached|1764000000`, `"resets_at":1777936568`. */
function readEpoch(text: string): number | null {
  const seconds = /\|(\d{10})\b|"resets?_?at"\s*:\s*(\d{10})\b/i.exec(text)
  return seconds ? Number(seconds[1] ?? seconds[2]) * 1_000 : null
}

/**
 * Reads `try again in 5 days 22 hours 11 minutes`, `reset after 10h30m5s`, `retrying in 6h16m`,
 * `"resets_in_seconds":13872`.
 */
function readSpan(text: string, now: number): number | null {
  const counted = /"resets_in_seconds"\s*:\s*(\d+)/.exec(text)
  if (counted) return now + Number(counted[1]) * 1_000
  const words =
    /\b(?:in|after)\s+(?:~\s*)?((?:\d+(?:\.\d+)?\s*(?:weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[wdhms])\b[\s,]*(?:and\s+)?)+)/i.exec(
      text.replaceAll(/(\d[smhd])(?=\d)/gi, '$1 '),
    )
  if (!words) return null
  const parts = [...(words[1] ?? '').matchAll(/(\d+(?:\.\d+)?)\s*([a-z])/gi)]
  return now + parts.reduce((sum, [, n, unit]) => sum + Number(n) * (units[(unit ?? '').toLowerCase()] ?? 0), 0)
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Reads `resets 3pm`, `resets 1:30am (Asia/Dhaka)`, `resets at 10:57 PM GMT-3`, `try again at Nov 25th, 2026 5:00
 * PM`.
 */
function readTimeOfDay(text: string, now: number, zone: string): number | null {
  const found =
    /\b(?:resets?|again|until)\b(?:\s+(?:at|on))?\s+(?:([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4}),?\s+)?(?:at\s+)?)?(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap]\.?m\b)?\s*(?:\(([A-Za-z_]+\/[\w+/-]+|UTC)\)|(?:GMT|UTC)([+-]\d{1,2})?)?/i.exec(
      text,
    )
  if (!found) return null
  const [whole, monthName, dayText, yearText, hourText, minuteText, half, named, offset] = found
  const isTime = half !== undefined || minuteText !== undefined
  if (!isTime) return null
  const hours = (Number(hourText) % 12) + (half ? (/^p/i.test(half) ? 12 : 0) : Number(hourText) >= 12 ? 12 : 0)
  const clock = hours * hour + Number(minuteText ?? 0) * minute
  const hasOffset = named === undefined && /(?:GMT|UTC)(?:[+-]\d{1,2})?$/i.test(whole.trim())
  const offsetAt = (at: number): number => (hasOffset ? Number(offset ?? 0) * hour : offsetOf(named ?? zone, at))
  /** Returns the instant of this local time on the day that began at `midnight` in that zone. */
  const instant = (midnight: number): number => {
    const guess = midnight + clock
    return guess - offsetAt(guess - offsetAt(guess))
  }
  const there = now + offsetAt(now)
  const today = there - (there % day)
  const month = monthName === undefined ? -1 : months.indexOf(monthName.toLowerCase())
  if (month >= 0) {
    const year = yearText === undefined ? new Date(there).getUTCFullYear() : Number(yearText)
    const at = instant(Date.UTC(year, month, Number(dayText)))
    return yearText === undefined && at < now - day ? instant(Date.UTC(year + 1, month, Number(dayText))) : at
  }
  const at = instant(today)
  return at > now ? at : instant(today + day)
}

/** Returns a time zone's offset from UTC in milliseconds; 0 for an unknown zone. */
function offsetOf(timeZone: string, at: number): number {
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const),
    }).formatToParts(at)
    const of = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0)
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute')) - (at - (at % minute))
  } catch {
    return 0
  }
}

const firstPauseMs = 15 * minute
const longestPauseMs = 4 * hour

/** Returns when to retry if the provider does not say: after 15 minutes, doubling up to four hours. */
export const pauseUntil = (now: number, tries: number): number =>
  now + Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(tries, 10))
