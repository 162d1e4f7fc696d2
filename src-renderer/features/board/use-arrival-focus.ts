import { nextTick, watch } from 'vue'
import { useToasts } from '../../stores/base/toasts.ts'
import { useArrivals } from '../../stores/tasks/arrivals.ts'
import type { Board } from './use-board.ts'

interface ArrivalPorts {
  readonly board: Board
  loading(): boolean
  focusCard(taskId: string): Promise<void> | undefined
}

/** Focuses the card of a task just created here, so that `s` starts it. */
export function useArrivalFocus({ board, loading, focusCard }: ArrivalPorts): void {
  const arrivals = useArrivals()
  const toasts = useToasts()
  watch(
    () => [arrivals.wantedId, loading(), board.taskOf(arrivals.wantedId) !== undefined],
    async () => {
      const task = board.taskOf(arrivals.wantedId)
      if (loading() || task === undefined) return
      arrivals.taken()
      const isShown = board.found.value.some(({ id }) => id === task.id)
      if (!isShown) return toasts.warn(`The filter hides “${task.title}”.`, { label: 'Show all', run: board.clear })
      await nextTick()
      await focusCard(task.id)
    },
    { immediate: true, flush: 'post' },
  )
}
