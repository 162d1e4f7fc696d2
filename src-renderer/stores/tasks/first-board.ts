import { defineStore } from 'pinia'
import { watch } from 'vue'
import { onIdle } from '../base/on-idle.ts'
import { useNavigation } from '../base/navigation.ts'
import { useTasks } from './tasks.ts'

const useFirstBoard = defineStore('first-board', () => {
  const navigation = useNavigation()
  const tasks = useTasks()
  const { promise: drawn, resolve } = Promise.withResolvers<void>()
  watch(
    () => navigation.projectId !== null && tasks.loadState(navigation.projectId).kind === 'loading',
    (loading) => {
      if (!loading) onIdle(resolve)
    },
    { immediate: true, flush: 'post' },
  )
  return { drawn }
})

/**
 * Loads a script once the first board is drawn and the browser is idle, because parsing it takes
 * longer than drawing the cards.
 */
export function afterFirstBoard<T>(load: () => Promise<T>): Promise<T> {
  return useFirstBoard().drawn.then(load)
}
