import { watch } from 'vue'
import { onIdle } from '../composables/on-idle.ts'
import { useNavigation } from '../stores/navigation.ts'
import { useTasks } from '../stores/tasks.ts'

/**
 * Fetches what a key opens once the first board is there and the browser has nothing else to do: its first letter is
 * typed as soon as the key is pressed.
 */
export function useFetchedAhead(fetch: () => Promise<unknown>): void {
  const navigation = useNavigation()
  const tasks = useTasks()
  const isLoading = () => navigation.projectId !== null && tasks.loadState(navigation.projectId).kind === 'loading'
  watch(
    isLoading,
    (loading) => {
      if (!loading) onIdle(() => void fetch())
    },
    { immediate: true, flush: 'post' },
  )
}
