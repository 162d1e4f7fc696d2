import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

/** The selected tasks of the board. */
export const useSelection = defineStore('selection', () => {
  const ids = shallowRef<ReadonlySet<string>>(new Set())
  /** The task that a range selection starts from. */
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
    /**
     * Selects from the last selected task to this one in the shown order; without a last one, only
     * this one.
     */
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
