import { shallowReactive, shallowRef } from 'vue'
import { createLatestWins } from './latest-wins.ts'

export interface RecordsWatcher<T> {
  changed?(item: T, before: T | undefined): void
  gone?(id: string): void
}
type List<T> = () => Promise<{ readonly items: readonly T[] }>

/** What is read one by one or in lists, and of which events tell what becomes of it: what is newest is shown. */
export function createEntityStore<T extends { readonly id: string }>({ changed, gone }: RecordsWatcher<T> = {}) {
  const byId = shallowReactive(new Map<string, T>())
  /** Whether all that there are have been read. */
  const loaded = shallowRef(false)
  const newest = createLatestWins()

  function set(item: T): void {
    const before = byId.get(item.id)
    byId.set(item.id, item)
    changed?.(item, before)
  }
  function drop(id: string): void {
    byId.delete(id)
    gone?.(id)
  }
  return {
    byId,
    loaded,
    put(item: T): void {
      newest.markUpdated(item.id)
      set(item)
    },
    remove(id: string): void {
      newest.markUpdated(id)
      drop(id)
    },
    /** One of them, as it was read or as a change has made it. */
    async take(ask: () => Promise<T>): Promise<T> {
      const { answer, isLatest } = await newest.ask(ask)
      if (isLatest(answer.id)) set(answer)
      return answer
    },
    /** Some of them. */
    async add(ask: List<T>): Promise<void> {
      const { answer, isLatest } = await newest.ask(ask)
      for (const item of answer.items) if (isLatest(item.id)) set(item)
    },
    /** All that there are: the others are gone. */
    async replace(ask: List<T>): Promise<void> {
      const { answer, isLatest } = await newest.ask(ask)
      const listed = new Set(answer.items.map(({ id }) => id))
      for (const id of [...byId.keys()]) if (!listed.has(id) && isLatest(id)) drop(id)
      for (const item of answer.items) if (isLatest(item.id)) set(item)
      loaded.value = true
    },
  }
}
