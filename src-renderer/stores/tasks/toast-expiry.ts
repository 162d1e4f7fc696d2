import { watch } from 'vue'
import { useOpenToasts } from '../base/toasts.ts'
import { useTasks } from './tasks.ts'

/** Closes each toast about a task once the task has moved on since it appeared. */
export function useToastExpiry(): void {
  const tasks = useTasks()
  const open = useOpenToasts()
  const stages = () =>
    new Map(
      [...open.subjects].map(([toastId, { id, until }]) => {
        const task = tasks.byId.get(id)
        const run = until === 'moved' ? '' : task?.active_execution_id
        return [toastId, task === undefined ? null : `${task.status} ${run ?? ''}`] as const
      }),
    )
  watch(stages, (now, before) => {
    for (const [toastId, stage] of before) {
      if (stage !== null && now.has(toastId) && now.get(toastId) !== stage) open.close(toastId)
    }
  })
}
