import { shallowReactive } from 'vue'

/** Lists of what belongs to tasks: each is asked for once, and events tell what becomes of its items. */
export function createTaskLists<T extends { readonly id: string }>(
  byId: ReadonlyMap<string, T>,
  put: (item: T) => void,
) {
  const known = shallowReactive(new Set<string>())
  return {
    /** Whether all that a task has is here; before, nobody can say that there is no more. */
    isKnown: (taskId: string): boolean => known.has(taskId),
    async load(taskId: string, ask: () => Promise<{ readonly items: readonly T[] }>): Promise<void> {
      const before = new Map(byId)
      const { items } = await ask()
      // What an event has said meanwhile is newer.
      for (const item of items) if (byId.get(item.id) === before.get(item.id)) put(item)
      known.add(taskId)
    },
    forget: (taskId: string): void => void known.delete(taskId),
  }
}
