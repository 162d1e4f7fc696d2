import { defineStore } from 'pinia'
import { shallowRef } from 'vue'

/** How long a newly created card is highlighted, in milliseconds. */
const freshTime = 4_000

/** The task that the person at the screen has just made: the board goes to it, and it stands out for a while. */
export const useArrivals = defineStore('arrivals', () => {
  const freshId = shallowRef<string | null>(null)
  /** To be brought into focus by whichever board is on screen. */
  const wantedId = shallowRef<string | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    freshId,
    wantedId,
    /** `focus`: nothing else has it now, as while the next task is being written. */
    announce(taskId: string, focus: boolean): void {
      clearTimeout(timer)
      freshId.value = taskId
      wantedId.value = focus ? taskId : null
      timer = setTimeout(() => (freshId.value = null), freshTime)
    },
    taken: (): void => void (wantedId.value = null),
  }
})
