import { shallowReactive } from 'vue'
import { createEntityStore, type EntityWatcher } from '../base/entity-store.ts'

/** Creates lists of records that belong to tasks. Each is loaded once and updated by events. */
export function createTaskLists<T extends { readonly id: string; readonly task_id: string }>(
  watcher?: EntityWatcher<T>,
) {
  const { byId, put, take, add, remove } = createEntityStore<T>(watcher)
  const known = shallowReactive(new Set<string>())
  return {
    byId,
    put,
    take,
    /** Returns whether all records of a task are loaded; until then there may be more. */
    isKnown: (taskId: string): boolean => known.has(taskId),
    async load(taskId: string, ask: () => Promise<{ readonly items: readonly T[] }>): Promise<void> {
      await add(ask)
      known.add(taskId)
    },
    /** Removes the records of a deleted task. */
    removeTask(taskId: string): void {
      known.delete(taskId)
      for (const { id, task_id } of [...byId.values()]) if (task_id === taskId) remove(id)
    },
  }
}
