import { computed, watch } from 'vue'
import { useResource } from '../../composables/use-resource.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { useTaskInvalidation } from '../../stores/task-invalidation.ts'
import { skipsOf } from './hook-runs.ts'

/** Which failed runs of a task somebody passed over: the history keeps it, not the logs. */
export function useSkips(taskId: string, version: () => unknown) {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const entries = useResource(() => details.transitions(taskId))
  watch([() => news.changesOf(taskId, 'timeline'), version], () => void entries.reload(), { immediate: true })
  return computed(() => skipsOf(entries.data.value ?? []))
}
