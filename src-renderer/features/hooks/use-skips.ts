import { computed } from 'vue'
import { useQuery, useTaskInvalidation } from '../../stores/query.ts'
import { useTaskDetails } from '../../stores/task-details.ts'
import { skipsOf } from './hook-runs.ts'

/** Which failed runs of a task somebody passed over: the history keeps it, not the logs. */
export function useSkips(taskId: string, version: () => unknown) {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const { data: entries } = useQuery(
    () => details.transitions(taskId),
    () => ['transitions', taskId, news.changesOf(taskId, 'timeline'), version()],
  )
  return computed(() => skipsOf(entries.value ?? []))
}
