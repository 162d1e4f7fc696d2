import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

/** The tasks of the board that are selected for one action. */
export const useSelection = defineStore('selection', () => {
  const ids = shallowRef<ReadonlySet<string>>(new Set())
  /** Where a range begins. */
  let anchor: string | null = null
  return {
    ids: computed(() => ids.value),
    has: (taskId: string): boolean => ids.value.has(taskId),
    toggle(taskId: string): void {
      anchor = taskId
      const next = new Set(ids.value)
      if (!next.delete(taskId)) next.add(taskId)
      ids.value = next
    },
    /** From the last one picked to this one, in the order that is shown; without one just this one. */
    extend(taskId: string, order: readonly string[]): void {
      const [from, to] = [order.indexOf(anchor ?? taskId), order.indexOf(taskId)]
      if (from < 0 || to < 0) anchor = taskId
      const range = from < 0 || to < 0 ? [taskId] : order.slice(Math.min(from, to), Math.max(from, to) + 1)
      anchor ??= taskId
      ids.value = new Set([...ids.value, ...range])
    },
    set: (next: Iterable<string>): void => void (ids.value = new Set(next)),
    clear(): void {
      anchor = null
      ids.value = new Set()
    },
  }
})
