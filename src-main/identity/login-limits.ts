import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Clock } from '../engine/ports/clock.ts'

const windowMs = 15 * 60_000
const perAccount = 10
const perAddress = 100
/** Beyond this many accounts and addresses, the longest unused are forgotten. */
const maxTracked = 10_000

export interface Attempt {
  /** The sign-in worked: it counts no more, nor do the account's failures before it. */
  succeeded(): void
}

export interface LoginLimits {
  /**
   * Counts an attempt before it is judged, so that many at once gain nothing. Throws `rate_limited`
   * alike for accounts that exist and for those that do not. `address` null: from this process.
   */
  begin(address: string | null, account: string): Attempt
}

/** At most 10 failures an account and 100 an address within 15 minutes. */
export function createLoginLimits(clock: Clock): LoginLimits {
  const accounts = createCounter(clock, perAccount)
  const addresses = createCounter(clock, perAddress)
  return {
    begin: (address, account) => {
      const key = account.toLowerCase()
      const wait = Math.max(accounts.waitMs(key), address === null ? 0 : addresses.waitMs(address))
      if (wait > 0) throw rateLimited(wait)
      accounts.add(key)
      const taken = address === null ? null : addresses.add(address)
      return {
        succeeded: () => {
          accounts.clear(key)
          if (address !== null && taken !== null) addresses.remove(address, taken)
        },
      }
    },
  }
}

function rateLimited(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1_000)
  return new ApiError({
    code: 'rate_limited',
    message: `Too many failed attempts. Try again in ${seconds} seconds.`,
    details: { retry_after: seconds },
  })
}

interface Counter {
  /** How long until one more is allowed; 0 for now. */
  waitMs(key: string): number
  /** Counts one and answers when it was. */
  add(key: string): number
  remove(key: string, time: number): void
  clear(key: string): void
}

function createCounter(clock: Clock, limit: number): Counter {
  const times = new Map<string, number[]>()
  // A time that is still to come was counted before the clock went back.
  const recent = (key: string) =>
    (times.get(key) ?? []).filter((time) => time > clock.now() - windowMs && time <= clock.now())
  const set = (key: string, list: number[]) => {
    times.delete(key)
    if (list.length > 0) times.set(key, list)
    const oldest = times.keys().next().value
    if (times.size > maxTracked && oldest !== undefined) times.delete(oldest)
  }
  return {
    waitMs: (key) => {
      const list = recent(key)
      const freed = list[list.length - limit]
      return freed === undefined ? 0 : freed + windowMs - clock.now()
    },
    add: (key) => {
      const now = clock.now()
      set(key, [...recent(key), now])
      return now
    },
    remove: (key, time) => {
      const list = recent(key)
      const index = list.indexOf(time)
      set(key, index < 0 ? list : list.toSpliced(index, 1))
    },
    clear: (key) => {
      times.delete(key)
    },
  }
}
