import { isIPv6 } from 'node:net'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { createRateLimiter, forgetOldest } from '../platform/limits/rate-limiter.ts'
import type { Clock } from '../ports/clock.ts'

/** So many failures of one pair are free; then each makes the next wait twice as long. */
const freeFailures = 10
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** The count of a pair is reset after this time without a failure. */
const forgottenMs = 60 * 60_000

/** What strangers may fail at an account, and an address at all of them, before they have to wait. */
const windowMs = 15 * 60_000
const perAccount = 100
const perAddress = 100

export interface Attempt {
  /** Resets the count of the pair: the sign-in worked. */
  succeeded(): void
}

export interface LoginLimits {
  /**
   * Counts an attempt before it is judged, so that many at once gain nothing. Throws `rate_limited` alike for accounts
   * that exist and for those that do not. `address` null: from this process. `isKnown`: whether this pair has signed in
   * before; such a pair waits for its own failures only.
   */
  begin(address: string | null, account: string, isKnown: () => boolean): Attempt
}

interface Failures {
  count: number
  last: number
}

/** Limits by pair of address and account; strangers also by account and by address, which this machine never is. */
export function createLoginLimits(clock: Clock): LoginLimits {
  const pairs = new Map<string, Failures>()
  const accounts = createRateLimiter(perAccount, windowMs, clock.now)
  const addresses = createRateLimiter(perAddress, windowMs, clock.now)
  const failuresOf = (pair: string): Failures => {
    const failures = pairs.get(pair)
    const age = failures === undefined ? Infinity : clock.now() - failures.last
    // A time that is still to come was counted before the clock went back.
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
      const takeBack = [accounts.add(name), ...(limited === null ? [] : [addresses.add(limited)])]
      return {
        succeeded: () => {
          pairs.delete(pair)
          for (const undo of takeBack) undo()
        },
      }
    },
  }
}

/** How much longer a pair has to wait. */
function waitMs({ count, last }: Failures, now: number): number {
  if (count < freeFailures) return 0
  const pause = Math.min(longestWaitMs, firstWaitMs * 2 ** (count - freeFailures))
  return Math.max(0, last + pause - now)
}

/** The owner of one IPv6 address usually has 2⁶⁴ of them. */
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
