import type { AccountWindow } from '../../../src-shared/contract/accounts.ts'
import type { RateLimitEvent } from './stream-events.ts'

const names: Readonly<Record<string, string>> = {
  five_hour: '5 hours',
  seven_day: '7 days',
  seven_day_opus: '7 days, Opus',
  seven_day_sonnet: '7 days, Sonnet',
  overage: 'Extra usage',
}

/** Returns the account window in a rate limit event, or null if it names none. */
export function toWindow({ rate_limit_info: info }: RateLimitEvent): AccountWindow | null {
  const { rateLimitType: type, utilization, resetsAt, status } = info
  if (type == null) return null
  const used = status === 'rejected' ? 1 : (utilization ?? null)
  return { name: names[type] ?? type, used, resets_at: resetTime(resetsAt) }
}

/** Converts seconds since the epoch to ISO 8601. */
export const resetTime = (seconds: number | null | undefined): string | null =>
  seconds == null ? null : new Date(seconds * 1_000).toISOString()
