/**
 * Changes that are shown before the service has them. They reach it in the order in which they were made, and come
 * back as events, which are older than what is shown since.
 */
export function createPendingMutations() {
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
      const mine = last.then(change)
      last = mine.catch(() => undefined)
      try {
        await mine
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
