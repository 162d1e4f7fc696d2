import { shallowReactive } from 'vue'
import { createNewest } from './newest.ts'

/** The newest answer for each key; undefined where nothing was answered or told yet. */
export function createAnswers<T>() {
  const byKey = shallowReactive(new Map<string, T>())
  const newest = createNewest()
  return {
    byKey,
    put(key: string, value: T): void {
      newest.told(key)
      byKey.set(key, value)
    },
    remove(key: string): void {
      newest.told(key)
      byKey.delete(key)
    },
    async take(key: string, ask: () => Promise<T>): Promise<void> {
      const { answer, takes } = await newest.ask(ask)
      if (takes(key)) byKey.set(key, answer)
    },
  }
}
