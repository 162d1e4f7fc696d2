import { useReviews } from './reviews.ts'
import { useTasks } from './tasks.ts'

/** What the moves of a task depend on, in a word: whoever shows them asks again when it is another. */
export function useMovesCacheKey(): (taskId: string) => string {
  const tasks = useTasks()
  const reviews = useReviews()
  return (taskId) => {
    const task = tasks.byId.get(taskId)
    const parts = [task?.version, task?.status, task?.entry_barrier, task?.active_execution_id]
    return [taskId, ...parts, reviews.byTask(taskId)[0]?.status].join(' ')
  }
}
