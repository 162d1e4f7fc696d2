import { shallowReactive, shallowRef } from 'vue'

export interface EntityWatcher<T> {
  changed?(item: T, before: T | undefined): void
  gone?(key: string): void
}
type List<T> = () => Promise<{ readonly items: readonly T[] }>

/**
 * The newest that is known of each key. Events and answers come in any order: an answer counts only if, since it was
 * asked for, no event has told of its key and no later question was answered.
 */
export function createKeyedStore<T>({ changed, gone }: EntityWatcher<T> = {}) {
  const byKey = shallowReactive(new Map<string, T>())
  let moment = 0
  /** Key → when what is known of it was told, or asked for. */
  const since = new Map<string, number>()

  function set(key: string, item: T): void {
    const before = byKey.get(key)
    byKey.set(key, item)
    changed?.(item, before)
  }
  function drop(key: string): void {
    byKey.delete(key)
    gone?.(key)
  }
  /** Marks the key as told of now: answers that are on their way are older. */
  const touch = (key: string): void => void since.set(key, ++moment)
  async function ask<A>(work: () => Promise<A>): Promise<{ answer: A; isNewest: (key: string) => boolean }> {
    const asked = ++moment
    const answer = await work()
    const isNewest = (key: string): boolean => {
      if ((since.get(key) ?? 0) > asked) return false
      since.set(key, asked)
      return true
    }
    return { answer, isNewest }
  }
  return {
    byKey,
    touch,
    put(key: string, item: T): void {
      touch(key)
      set(key, item)
    },
    remove(key: string): void {
      touch(key)
      drop(key)
    },
    /** Asks for one; returns whether the answer was taken. */
    async take(key: string, work: () => Promise<T>): Promise<boolean> {
      const { answer, isNewest } = await ask(work)
      const isTaken = isNewest(key)
      if (isTaken) set(key, answer)
      return isTaken
    },
    /** For answers that name their keys themselves. */
    ask,
    set,
    drop,
  }
}

/** Records by their id, read one by one or in lists, with events that tell what becomes of them. */
export function createEntityStore<T extends { readonly id: string }>(watcher: EntityWatcher<T> = {}) {
  const { byKey: byId, put, remove, ask, set, drop } = createKeyedStore<T>(watcher)
  /** Whether all that there are have been read. */
  const loaded = shallowRef(false)
  return {
    byId,
    loaded,
    put: (item: T): void => put(item.id, item),
    remove,
    /** One of them, as it was read or as a change has made it. */
    async take(work: () => Promise<T>): Promise<T> {
      const { answer, isNewest } = await ask(work)
      if (isNewest(answer.id)) set(answer.id, answer)
      return answer
    },
    /** Some of them. */
    async add(work: List<T>): Promise<void> {
      const { answer, isNewest } = await ask(work)
      for (const item of answer.items) if (isNewest(item.id)) set(item.id, item)
    },
    /** All that there are: the others are gone. */
    async replace(work: List<T>): Promise<void> {
      const { answer, isNewest } = await ask(work)
      const listed = new Set(answer.items.map(({ id }) => id))
      for (const id of [...byId.keys()]) if (!listed.has(id) && isNewest(id)) drop(id)
      for (const item of answer.items) if (isNewest(item.id)) set(item.id, item)
      loaded.value = true
    },
  }
}

/**
 * Changes that are shown before the service has them, beside the state. They reach it in the order in which they were
 * made, and come back as events, which are older than what is shown since.
 */
export function createOptimisticChanges() {
  /** How often the events have yet to tell of a key. */
  const due = new Map<string, number>()
  let last: Promise<unknown> = Promise.resolve()

  function isOutdated(key: string): boolean {
    const count = due.get(key) ?? 0
    if (count > 1) due.set(key, count - 1)
    else due.delete(key)
    return count > 1
  }
  return {
    /** Makes a change when those before it are made; one event will tell of each of its keys, unless it is refused. */
    async send(keys: readonly string[], change: () => Promise<unknown>): Promise<void> {
      for (const key of keys) due.set(key, (due.get(key) ?? 0) + 1)
      const saved = last.then(change)
      last = saved.catch(() => undefined)
      try {
        await saved
      } catch (error) {
        for (const key of keys) isOutdated(key)
        throw error
      }
    },
    /** Whether what an event says of this key was changed here since. To be asked once for each event. */
    isOutdated,
    /** Settles when the service has every change that was made until now, or has refused it. */
    settled: (): Promise<unknown> => last,
    /** Events may have been missed: what comes now is news. */
    forget: () => due.clear(),
  }
}
