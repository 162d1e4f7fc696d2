import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'

export interface AddressLimits {
  /** Counts a request. Throws `rate_limited` for an address that asks too much. This machine itself is never limited. */
  admit(address: string): void
  /** Counts a token that was none: whoever tries many is soon turned away before any is looked at. */
  failed(address: string): void
}

/** How much one address beyond this machine may ask within a minute. */
export interface AddressBudget {
  readonly requests: number
  readonly failures: number
}

const windowMs = 60_000
/** Beyond this many addresses, those counted longest ago are forgotten. */
const maxTracked = 10_000

interface Count {
  requests: number
  failures: number
  readonly until: number
}

/** Counts by address, in windows of a minute. `now`: milliseconds that never go back. */
export function createAddressLimits(
  { requests, failures }: AddressBudget,
  now: () => number = () => performance.now(),
): AddressLimits {
  const counts = new Map<string, Count>()
  const countOf = (address: string): Count => {
    const known = counts.get(address)
    if (known && known.until > now()) return known
    counts.delete(address)
    const [oldest] = counts.keys()
    if (counts.size >= maxTracked && oldest !== undefined) counts.delete(oldest)
    const count = { requests: 0, failures: 0, until: now() + windowMs }
    counts.set(address, count)
    return count
  }
  return {
    admit: (address) => {
      if (isLoopbackHost(address)) return
      const count = countOf(address)
      count.requests += 1
      if (count.requests > requests || count.failures >= failures) throw limited(count.until - now())
    },
    failed: (address) => {
      if (!isLoopbackHost(address)) countOf(address).failures += 1
    },
  }
}

function limited(waitMs: number): ApiError {
  const retry_after = Math.max(1, Math.ceil(waitMs / 1_000))
  const message = `Too many requests from this address. Try again in ${retry_after} seconds.`
  return new ApiError({ code: 'rate_limited', message, details: { retry_after } })
}
