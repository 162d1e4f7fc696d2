import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { createRateLimiter } from '../platform/limits/rate-limiter.ts'

export interface AddressLimits {
  /** Counts a request. Throws `rate_limited` for an address above its budget. This machine is never limited. */
  admit(address: string): void
  /** Counts an invalid token, so that an address that tries many is refused before any is checked. */
  failed(address: string): void
}

/** Requests and failures that one other address may have per minute. */
export interface AddressBudget {
  readonly requests: number
  readonly failures: number
}

const windowMs = 60_000
/** Counts by address, in windows of a minute. `now` returns monotonic milliseconds. */
export function createAddressLimits(
  { requests, failures }: AddressBudget,
  now: () => number = () => performance.now(),
): AddressLimits {
  const asked = createRateLimiter(requests, windowMs, now)
  const failed = createRateLimiter(failures, windowMs, now)
  return {
    admit: (address) => {
      if (isLoopbackHost(address)) return
      const wait = Math.max(asked.waitMs(address), failed.waitMs(address))
      if (wait > 0) throw limited(wait)
      asked.add(address)
    },
    failed: (address) => {
      if (!isLoopbackHost(address)) failed.add(address)
    },
  }
}

function limited(waitMs: number): ApiError {
  const retry_after = Math.max(1, Math.ceil(waitMs / 1_000))
  const message = `Too many requests from this address. Try again in ${retry_after} seconds.`
  return new ApiError({ code: 'rate_limited', message, details: { retry_after } })
}
