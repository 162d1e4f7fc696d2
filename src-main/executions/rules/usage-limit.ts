import type { AccountWindow } from '../../../src-shared/contract/accounts.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: minute, h: hour, d: day, w: 7 * day }

export interface ResetReading {
  readonly now: number
  /** This machine's time zone, for times without one. */
  readonly zone: string
  /** The reset that the account was last told of. */
  readonly before?: number | null
}

/** When a provider says that its usage limit resets. */
export interface Reset {
  /**
   * In milliseconds since the epoch: the end of what the words name, so a time without seconds is the end of its
   * minute. In the past where they name a time that has just passed.
   */
  readonly at: number
  /** The words name a time of day without a date. */
  readonly undated: boolean
}

/** Reads when a usage limit resets from a provider's words; null if they do not say. */
export function readReset(text: string, reading: ResetReading): Reset | null {
  const { now } = reading
  const found = readEpoch(text) ?? readIsoTime(text) ?? readSpan(text, now) ?? readTime(text, reading)
  // A time far in the past or in the future is a number with another meaning.
  return found !== null && found.at > now - day && found.at < now + 40 * day ? found : null
}

const dated = (at: number): Reset => ({ at, undated: false })

/** Reads `limit reached|1764000000`, `"resets_at":1777936568`. */
function readEpoch(text: string): Reset | null {
  const seconds = /\|(\d{10})\b|"resets?_?at"\s*:\s*(\d{10})\b/i.exec(text)
  return seconds ? dated(Number(seconds[1] ?? seconds[2]) * 1_000) : null
}

/** Reads `resets at 2026-03-10T17:00:00Z`. */
function readIsoTime(text: string): Reset | null {
  const found = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})/.exec(text)
  const at = found ? Date.parse(found[0]) : NaN
  return Number.isNaN(at) ? null : dated(found?.[1] === undefined ? at + minute : at)
}

/**
 * Reads `try again in 5 days 22 hours 11 minutes`, `reset after 10h30m5s`, `retrying in 6h16m`,
 * `"resets_in_seconds":13872`, `retry-after: 30`.
 */
function readSpan(text: string, now: number): Reset | null {
  const counted = /"resets_in_seconds"\s*:\s*(\d+)|\bretry.?after\W{1,4}(\d+(?:\.\d+)?)(?!\w|:|\.\d)/i.exec(text)
  if (counted) return dated(now + Number(counted[1] ?? counted[2]) * 1_000)
  const words =
    /\b(?:in|after)\s+(?:~\s*)?((?:\d+(?:\.\d+)?\s*(?:weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|[wdhms])\b[\s,]*(?:and\s+)?)+)/i.exec(
      text.replaceAll(/(\d[smhd])(?=\d)/gi, '$1 '),
    )
  if (!words) return null
  const parts = [...(words[1] ?? '').matchAll(/(\d+(?:\.\d+)?)\s*(ms|[a-z])/gi)]
  const unitOf = (unit = '') => units[unit.toLowerCase()] ?? 0
  const span = parts.reduce((sum, [, n, unit]) => sum + Number(n) * unitOf(unit), 0)
  // Whole minutes are rounded down.
  const isExact = parts.some(([, n, unit]) => unitOf(unit) < minute || n?.includes('.') === true)
  return dated(now + span + (isExact ? 0 : minute))
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const dayWords = String.raw`([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b,?(?:\s+(\d{4})\b,?)?`
const timeWords = String.raw`(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*([ap]\.?m\b)?`
const zoneWords = String.raw`(?:\(([A-Za-z_]+\/[\w+/-]+|UTC)\)|((?:GMT|UTC)([+-]\d{1,2})?))?`
const resetWords = new RegExp(
  String.raw`\b(?:resets?|again|until)\b(?:\s+(?:at|on))?\s+(?:${dayWords}\s*(?:at\s+)?)?(?:${timeWords}\s*${zoneWords})?`,
  'gi',
)
/** A time a little in the past has just come: the provider's clock and this one differ, or the words are old. */
const justPassedMs = 5 * minute
const halfDay = 12 * hour

/**
 * Reads `resets 3pm`, `resets 1:30am (Asia/Dhaka)`, `resets at 10:57 PM GMT-3`, `resets on Mar 31`, `try again at Nov
 * 25th, 2026 5:00 PM`.
 */
function readTime(text: string, reading: ResetReading): Reset | null {
  for (const found of text.matchAll(resetWords)) {
    const reset = readTimeWords(found, reading)
    if (reset !== null) return reset
  }
  return null
}

function readTimeWords(found: RegExpMatchArray, { now, zone, before = null }: ResetReading): Reset | null {
  const [, monthName, dayText, yearText, hourText, minuteText, secondText, half, named, offsetWords, offset] = found
  const isTime = half !== undefined || minuteText !== undefined
  const month = monthName === undefined ? -1 : months.indexOf(monthName.toLowerCase())
  if (!isTime && month < 0) return null
  const hourOf = Number(hourText ?? 0)
  const hours = (hourOf % 12) + (half ? (/^p/i.test(half) ? 12 : 0) : hourOf >= 12 ? 12 : 0)
  const clock = isTime ? hours * hour + Number(minuteText ?? 0) * minute + Number(secondText ?? 0) * 1_000 : 0
  const rest = !isTime ? day : secondText === undefined ? minute : 0
  const offsetAt = (at: number): number =>
    offsetWords === undefined ? offsetOf(named ?? zone, at) : Number(offset ?? 0) * hour
  /** Returns the end of this local time on the day that began at `midnight` in that zone. */
  const instant = (midnight: number): number => {
    const guess = midnight + clock + rest
    return guess - offsetAt(guess - offsetAt(guess))
  }
  const there = now + offsetAt(now)
  const today = there - (there % day)
  if (month >= 0) {
    const year = yearText === undefined ? new Date(there).getUTCFullYear() : Number(yearText)
    const at = instant(Date.UTC(year, month, Number(dayText)))
    const isPast = yearText === undefined && at < now - day
    return dated(isPast ? instant(Date.UTC(year + 1, month, Number(dayText))) : at)
  }
  const [last, next] = [today - day, today, today + day]
    .map(instant)
    .reduce<[number, number | null]>(
      ([past, coming], at) => (at <= now ? [at, null] : [past, coming ?? at]),
      [Number.NEGATIVE_INFINITY, null],
    )
  const age = now - last
  const isSame = before !== null && Math.abs(before - last) <= minute && age < halfDay
  return { at: age <= justPassedMs || isSame ? last : (next ?? last), undated: true }
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

const windowWords: readonly (readonly [RegExp, number])[] = [
  [/\bmonthly\b|\bpremium request/i, 31 * day],
  [/\bweekly\b|\b(?:7|seven)[- ]days?\b/i, 7 * day],
  [/\bdaily\b|\bper day\b/i, day],
  [/\bsession limit\b|\b(?:5|five)[- ]hours?\b/i, 5 * hour],
]

export interface LimitFacts {
  readonly now: number
  readonly reset: Reset
  /** The provider's words. */
  readonly text: string
  /** The account's windows, as far as its provider told them. */
  readonly windows: readonly AccountWindow[]
}

/**
 * Returns whether a reset is later than the account's own window can make it: the one that the words name, else the
 * longest that is used up or known; else a week, and five hours for a time without a date.
 */
export function isDoubtful({ now, reset, text, windows }: LimitFacts): boolean {
  const named = windowWords.find(([words]) => words.test(text))?.[1]
  const usedUp = windows.filter(({ used }) => (used ?? 0) >= 1)
  const known = (usedUp.length > 0 ? usedUp : windows).flatMap(({ name }) => windowLength(name) ?? [])
  const longest = named ?? (known.length > 0 ? Math.max(...known) : reset.undated ? 5 * hour : 7 * day)
  // The end of what the words name may be later than the window's end.
  return reset.at - now > longest + 2 * minute
}

function windowLength(name: string): number | null {
  const found = /^(\d+) (hour|day)s?\b/.exec(name)
  return found ? Number(found[1]) * (found[2] === 'day' ? day : hour) : null
}

/** Returns when to retry if the named reset has passed and the provider still refuses: a minute, doubling. */
const soonAfter = (now: number, tries: number): number =>
  now + Math.min(longestPauseMs, minute * 2 ** Math.min(tries, 10))

/** Returns when to retry before a doubtful reset: after 15 minutes, doubling up to a day. */
const beforeDoubtful = (now: number, tries: number): number =>
  now + Math.min(day, firstPauseMs * 2 ** Math.min(tries, 10))

/** Returns when a limited account is tried again. `tries`: how often it was refused since it last worked. */
export function retryAfterLimit({
  reset,
  ...facts
}: Omit<LimitFacts, 'reset'> & {
  readonly reset: Reset | null
  readonly tries: number
}): number {
  const { now, tries } = facts
  if (reset === null) return pauseUntil(now, tries)
  if (reset.at <= now) return soonAfter(now, tries)
  return isDoubtful({ ...facts, reset }) ? Math.min(reset.at, beforeDoubtful(now, tries)) : reset.at
}

const resetHeader = /^(?:x-ratelimit-reset|anthropic-ratelimit-|ratelimit-reset)/

/**
 * Returns when a refusing server's headers say that its limit resets, in milliseconds since the epoch; null without
 * any. `retry-after` decides, else the latest reset of a limit that is used up, or of all.
 */
export function readResetHeaders(headers: Readonly<Record<string, string>>, now: number): number | null {
  const ms = Number(headers['retry-after-ms'])
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms)) return now + ms
  const after = readHeaderTime(headers['retry-after'], now)
  if (after !== null) return after
  const resets = Object.entries(headers).flatMap(([name, value]) => {
    const at = resetHeader.test(name) && name.includes('reset') ? readHeaderTime(value, now) : null
    return at === null ? [] : [{ at, isUsedUp: headers[name.replace('reset', 'remaining')] === '0' }]
  })
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp)
  const times = (usedUp.length > 0 ? usedUp : resets).map(({ at }) => at)
  return times.length === 0 ? null : Math.max(...times)
}

/** Reads seconds, seconds since the epoch, `6m0s`, `120ms` and dates. */
function readHeaderTime(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text))
    return Number(text) > 1_000_000_000 ? Number(text) * 1_000 : now + Number(text) * 1_000
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)]
  if (parts.length > 0 && parts.map(([part]) => part).join('') === text)
    return now + parts.reduce((sum, [, n, unit]) => sum + Number(n) * (units[unit ?? ''] ?? 0), 0)
  const at = text === '' ? NaN : Date.parse(text)
  return Number.isNaN(at) ? null : at
}
