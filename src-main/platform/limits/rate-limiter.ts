/** Beyond this many keys the oldest are forgotten. */
const maxKeys = 10_000

export interface RateLimiter {
  /** Returns the milliseconds until the next event of this key is allowed; 0: now. */
  waitMs(key: string): number
  /** Counts an event, allowed or not. Returns a function that takes it back, with no effect after its window. */
  add(key: string): () => void
}

interface Window {
  count: number
  readonly begun: number
}

/** Allows `limit` events per key within windows of `windowMs`. `now` is in milliseconds and may be set back. */
export function createRateLimiter(limit: number, windowMs: number, now: () => number): RateLimiter {
  const windows = new Map<string, Window>()
  const current = (key: string): Window | null => {
    const window = windows.get(key)
    if (!window) return null
    const age = now() - window.begun
    // A window that starts in the future was counted before the clock was set back.
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

/** Deletes a map's oldest entries beyond its maximum size; the map must be written newest last. */
export function forgetOldest(map: Map<string, unknown>, max = maxKeys): void {
  const oldest = map.keys().next().value
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
