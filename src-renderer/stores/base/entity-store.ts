import { shallowReactive, shallowRef } from 'vue'

export interface EntityWatcher<T> {
  onChanged?(item: T, before: T | undefined): void
  onRemoved?(key: string): void
}
type List<T> = () => Promise<{ readonly items: readonly T[] }>

/**
 * The newest known value of each key. Events and replies arrive in any order: a reply counts only
 * if, since its request, no event has changed its key and no later request was answered.
 */
export function createKeyedStore<T>({ onChanged, onRemoved }: EntityWatcher<T> = {}) {
  const byKey = shallowReactive(new Map<string, T>())
  let tick = 0
  /** Key → the tick at which its value was announced by an event or requested. */
  const since = new Map<string, number>()

  function set(key: string, item: T): void {
    const before = byKey.get(key)
    byKey.set(key, item)
    onChanged?.(item, before)
  }
  function drop(key: string): void {
    byKey.delete(key)
    onRemoved?.(key)
  }
  /** Marks the key as changed now, so replies to earlier requests are outdated. */
  const touch = (key: string): void => void since.set(key, ++tick)
  async function ask<A>(work: () => Promise<A>): Promise<{ answer: A; isNewest: (key: string) => boolean }> {
    const requestedAt = ++tick
    const answer = await work()
    const isNewest = (key: string): boolean => {
      if ((since.get(key) ?? 0) > requestedAt) return false
      since.set(key, requestedAt)
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
    /** Requests one value. Returns whether the reply was stored. */
    async take(key: string, work: () => Promise<T>): Promise<boolean> {
      const { answer, isNewest } = await ask(work)
      const isTaken = isNewest(key)
      if (isTaken) set(key, answer)
      return isTaken
    },
    /** Runs a request whose reply contains the keys. `isNewest` says whether the reply is newest for a key. */
    ask,
    set,
    drop,
  }
}

/** Records by ID, loaded singly or in lists and updated by events. */
export function createEntityStore<T extends { readonly id: string }>(watcher: EntityWatcher<T> = {}) {
  const { byKey: byId, put, remove, ask, set, drop } = createKeyedStore<T>(watcher)
  /** Whether `replace` has loaded the full list. */
  const loaded = shallowRef(false)
  return {
    byId,
    loaded,
    put: (item: T): void => put(item.id, item),
    remove,
    /** Requests one record and returns it. Stores it unless a newer one is known. */
    async take(work: () => Promise<T>): Promise<T> {
      const { answer, isNewest } = await ask(work)
      if (isNewest(answer.id)) set(answer.id, answer)
      return answer
    },
    /** Requests some of the records and stores them. */
    async add(work: List<T>): Promise<void> {
      const { answer, isNewest } = await ask(work)
      for (const item of answer.items) if (isNewest(item.id)) set(item.id, item)
    },
    /** Requests the full list, and removes records that it lacks. */
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
 * Changes that are shown before the service has them. They are sent in order. Their events return
 * later, and may be older than the value that is shown.
 */
export function createOptimisticChanges() {
  /** Key → the number of events that are still expected for it. */
  const due = new Map<string, number>()
  let last: Promise<unknown> = Promise.resolve()

  function isOutdated(key: string): boolean {
    const count = due.get(key) ?? 0
    if (count > 1) due.set(key, count - 1)
    else due.delete(key)
    return count > 1
  }
  return {
    /** Sends a change after all earlier ones. Expects one event for each of its keys, unless the change is refused. */
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
    /** Returns whether a later local change outdates the event for this key. Must be called once per event. */
    isOutdated,
    /** Resolves when all changes made until now are saved or refused. */
    settled: (): Promise<unknown> => last,
    /** Drops all expectations, because events may have been missed. */
    forget: () => due.clear(),
  }
}
