const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Formats a time relative to now: `now`, `4 min ago`, `yesterday`, `12 Oct`, `12 Oct 2025`. */
export function relativeTime(at: string, now: number): string {
  const then = Date.parse(at)
  const past = now - then
  if (past < minute) return 'now'
  if (past < hour) return `${Math.floor(past / minute)} min ago`
  const days = calendarDays(then, now)
  if (days === 0 || past < 6 * hour) return `${Math.floor(past / hour)} h ago`
  if (days === 1) return 'yesterday'
  if (days < 7) return `${days} days ago`
  const date = new Date(then)
  const sameYear = date.getFullYear() === new Date(now).getFullYear()
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) })
}

/** Formats a time as day and time: `Today 07:33`, `Yesterday 19:02`, `12 Oct 19:02`, `12 Oct 2025 19:02`. */
export function dayAndTime(at: string, now: number): string {
  const date = new Date(at)
  const days = calendarDays(date.getTime(), now)
  const time = clockTime(at)
  if (days === 0 || days === 1) return `${days === 0 ? 'Today' : 'Yesterday'} ${time}`
  const sameYear = date.getFullYear() === new Date(now).getFullYear()
  const year = sameYear ? {} : ({ year: 'numeric' } as const)
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year })} ${time}`
}

/** Formats the time of day: `07:33`. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** Formats the time of day to the second: `07:33:09`. Avoids `Intl`, because logs have many lines. */
export function clockSeconds(at: string): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Formats the exact time in the reader's time zone, for tooltips. */
export function absoluteTime(at: string): string {
  return new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}

/** Formats how long an agent has been silent: `Quiet for 40 s`, `Quiet for 12 min`, `Quiet for 1 h 4 min`. */
export function quietFor(since: string, now: number): string {
  const past = Math.max(0, now - Date.parse(since))
  if (past < minute) return `Quiet for ${Math.floor(past / 1_000)} s`
  if (past < hour) return `Quiet for ${Math.floor(past / minute)} min`
  return `Quiet for ${Math.floor(past / hour)} h ${Math.floor((past % hour) / minute)} min`
}

/** Formats milliseconds as a clock: `0:04`, `12:41`, `1:02:09`. */
export function duration(milliseconds: number): string {
  const total = Math.max(0, Math.floor(milliseconds / 1_000))
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = Math.floor(total / 3_600)
  const minutes = Math.floor((total % 3_600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`
}

function calendarDays(from: number, to: number): number {
  const start = (value: number) => new Date(value).setHours(0, 0, 0, 0)
  return Math.round((start(to) - start(from)) / day)
}
