import type { Clock } from '../../ports/clock.ts'

/**
 * Answers what was loaded for `key` before, as long as `forMs` said then, else loads it; `isFresh` loads it in any case.
 * A failure isn't kept.
 */
export type Recall = <T>(
  key: string,
  forMs: (value: T) => number,
  load: () => Promise<T>,
  isFresh?: boolean,
) => Promise<T>

const maxEntries = 1_000

/** Creates a memory of what seldom changes, so that a poll doesn't ask for it each time. */
export function createRecall(clock: Clock): Recall {
  const known = new Map<string, { readonly until: number; readonly value: unknown }>()
  return async <T>(key: string, forMs: (value: T) => number, load: () => Promise<T>, isFresh = false): Promise<T> => {
    const entry = known.get(key)
    // Under one key there is only what its `load` answers.
    if (!isFresh && entry && entry.until > clock.now()) return entry.value as T
    const value = await load()
    known.delete(key)
    known.set(key, { until: clock.now() + forMs(value), value })
    const [oldest] = known.keys()
    if (known.size > maxEntries && oldest !== undefined) known.delete(oldest)
    return value
  }
}
