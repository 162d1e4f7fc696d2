import { shallowReactive } from 'vue'
import { createEntityStore, type EntityWatcher } from '../base/entity-store.ts'

/** Lists of what belongs to tasks: each is asked for once, and events tell what becomes of its items. */
export function createTaskLists<T extends { readonly id: string; readonly task_id: string }>(
  watcher?: EntityWatcher<T>,
) {
  const { byId, put, take, add, remove } = createEntityStore<T>(watcher)
  const known = shallowReactive(new Set<string>())
  return {
    byId,
    put,
    take,
    /** Whether all records of a task are loaded; until then there may be more. */
    isKnown: (taskId: string): boolean => known.has(taskId),
    async load(taskId: string, ask: () => Promise<{ readonly items: readonly T[] }>): Promise<void> {
      await add(ask)
      known.add(taskId)
    },
    /** Forgets what a task has, when the task itself is gone. */
    removeTask(taskId: string): void {
      known.delete(taskId)
      for (const { id, task_id } of [...byId.values()]) if (task_id === taskId) remove(id)
    },
  }
}
