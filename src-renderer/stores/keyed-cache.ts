import { shallowReactive } from 'vue'
import { createLatestWins } from './latest-wins.ts'

/** The newest answer for each key; undefined where nothing was answered or told yet. */
export function createKeyedCache<T>() {
  const byKey = shallowReactive(new Map<string, T>())
  const newest = createLatestWins()
  return {
    byKey,
    put(key: string, value: T): void {
      newest.markUpdated(key)
      byKey.set(key, value)
    },
    remove(key: string): void {
      newest.markUpdated(key)
      byKey.delete(key)
    },
    async take(key: string, ask: () => Promise<T>): Promise<void> {
      const { answer, isLatest } = await newest.ask(ask)
      if (isLatest(key)) byKey.set(key, answer)
    },
  }
}
