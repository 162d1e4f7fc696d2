/** Beyond this many keys, those counted longest ago are forgotten. */
const maxKeys = 10_000

export interface RateLimiter {
  /** Milliseconds until one more is allowed for this key; 0 for now. */
  waitMs(key: string): number
  /** Counts one, allowed or not. Answers how to take it back; after the end of its window that changes nothing. */
  add(key: string): () => void
}

interface Window {
  count: number
  readonly begun: number
}

/** Allows `limit` of each key within windows of `windowMs`. `now` in milliseconds; it may be set back. */
export function createRateLimiter(limit: number, windowMs: number, now: () => number): RateLimiter {
  const windows = new Map<string, Window>()
  const current = (key: string): Window | null => {
    const window = windows.get(key)
    if (!window) return null
    const age = now() - window.begun
    // A time that is still to come was counted before the clock went back.
    return age >= 0 && age < windowMs ? window : null
  }
  return {
    waitMs: (key) => {
      const window = current(key)
      return window === null || window.count < limit ? 0 : window.begun + windowMs - now()
    },
    add: (key) => {
      const window = current(key) ?? { count: 0, begun: now() }
      window.count += 1
      windows.delete(key)
      windows.set(key, window)
      forgetOldest(windows, maxKeys)
      return () => {
        window.count -= 1
      }
    },
  }
}

/** Keeps a map that is written newest last within its size. */
export function forgetOldest(map: Map<string, unknown>, max = maxKeys): void {
  const oldest = map.keys().next().value
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
