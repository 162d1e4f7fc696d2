import { useTimeoutFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

/** How long a newly created card is highlighted, in milliseconds. */
const freshTime = 4_000

/** The task that was just created here: the board goes to it and highlights it for a while. */
export const useArrivals = defineStore('arrivals', () => {
  const freshId = shallowRef<string | null>(null)
  /** The board on screen moves the focus to it. */
  const wantedId = shallowRef<string | null>(null)
  const { start } = useTimeoutFn(() => (freshId.value = null), freshTime, { immediate: false })
  return {
    freshId,
    wantedId,
    /** `focus`: nothing else has it now, as while the next task is being written. */
    announce(taskId: string, focus: boolean): void {
      freshId.value = taskId
      wantedId.value = focus ? taskId : null
      start()
    },
    taken: (): void => void (wantedId.value = null),
  }
})
