import { useTimeoutFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

/** The time for which a new card is highlighted, in milliseconds. */
const highlightMs = 4_000

/** The task that was just created on this page: the board scrolls to it and highlights it for a while. */
export const useArrivals = defineStore('arrivals', () => {
  const freshId = shallowRef<string | null>(null)
  /** The ID of the task whose card the board must focus. */
  const wantedId = shallowRef<string | null>(null)
  const { start } = useTimeoutFn(() => (freshId.value = null), highlightMs, { immediate: false })
  return {
    freshId,
    wantedId,
    /** Highlights a new task. `focus`: its card gets the focus, which no form of the next task needs. */
    announce(taskId: string, focus: boolean): void {
      freshId.value = taskId
      wantedId.value = focus ? taskId : null
      start()
    },
    taken: (): void => void (wantedId.value = null),
  }
})
