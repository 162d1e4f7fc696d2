import { isIPv6 } from 'node:net'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { createRateLimiter, forgetOldest } from '../platform/limits/rate-limiter.ts'
import type { Clock } from '../ports/clock.ts'

/** Failures of a pair without a delay; each further one doubles the next wait. */
const freeFailures = 10
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** The count of a pair is reset after this time without a failure. */
const forgottenMs = 60 * 60_000

/** Time window of the failures that unknown pairs may have per account, and per address for all accounts. */
const windowMs = 15 * 60_000
const perAccount = 100
const perAddress = 100

interface Attempt {
  /** Resets the count of the pair after a successful sign-in. */
  succeeded(): void
}

export interface LoginLimits {
  /**
   * Counts an attempt before it is judged, so that parallel attempts gain nothing. Throws `rate_limited` whether or
   * not the account exists. `address` null: from this process. `isKnown` returns whether this pair has signed in
   * before; such a pair waits for its own failures only.
   */
  begin(address: string | null, account: string, isKnown: () => boolean): Attempt
}

interface Failures {
  count: number
  last: number
}

/**
 * Limits attempts by pair of address and account; unknown pairs also by account and by address, except this machine.
 */
export function createLoginLimits(clock: Clock): LoginLimits {
  const pairs = new Map<string, Failures>()
  const accounts = createRateLimiter(perAccount, windowMs, clock.now)
  const addresses = createRateLimiter(perAddress, windowMs, clock.now)
  const failuresOf = (pair: string): Failures => {
    const failures = pairs.get(pair)
    const age = failures === undefined ? Infinity : clock.now() - failures.last
    // A time in the future was counted before the clock was set back.
    return failures !== undefined && age >= 0 && age < forgottenMs ? failures : { count: 0, last: 0 }
  }
  return {
    begin: (address, account, isKnown) => {
      const name = account.toLowerCase()
      const from = address === null ? '' : networkOf(address)
      const pair = `${from}\0${name}`
      const failures = failuresOf(pair)
      const limited = address === null || isLoopbackHost(address) ? null : from
      const wait = waitMs(failures, clock.now())
      if (wait > 0) throw rateLimited(wait)
      const strangers = Math.max(accounts.waitMs(name), limited === null ? 0 : addresses.waitMs(limited))
      if (strangers > 0 && !isKnown()) throw rateLimited(strangers)
      pairs.delete(pair)
      pairs.set(pair, { count: failures.count + 1, last: clock.now() })
      forgetOldest(pairs)
      const undoCounts = [accounts.add(name), ...(limited === null ? [] : [addresses.add(limited)])]
      return {
        succeeded: () => {
          pairs.delete(pair)
          for (const undo of undoCounts) undo()
        },
      }
    },
  }
}

/** Returns how long a pair still has to wait. */
function waitMs({ count, last }: Failures, now: number): number {
  if (count < freeFailures) return 0
  const pause = Math.min(longestWaitMs, firstWaitMs * 2 ** (count - freeFailures))
  return Math.max(0, last + pause - now)
}

/** The owner of an IPv6 address usually has 2⁶⁴ of them. */
function networkOf(address: string): string {
  if (!isIPv6(address) || /^::ffff:/i.test(address)) return address
  const [head = [], tail = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const gap = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...gap, ...tail].slice(0, 4).join(':')
}

function rateLimited(wait: number): ApiError {
  const seconds = Math.ceil(wait / 1_000)
  return new ApiError({
    code: 'rate_limited',
    message: `Too many failed attempts. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    details: { retry_after: seconds },
  })
}
