/**
 * Formats a time in the reader's time zone: `14:30`; on another day `Mon 14:30`; six days or more
 * away `3 Dec 14:30`.
 */
export function timeOfDay(iso: string, now: number = Date.now()): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (at.toDateString() === new Date(now).toDateString()) return time
  const isNear = Math.abs(at.getTime() - now) < 6 * 86_400_000
  const day = at.toLocaleDateString('en', isNear ? { weekday: 'short' } : { day: 'numeric', month: 'short' })
  return `${day} ${time}`
}
