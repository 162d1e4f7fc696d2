import { defineStore } from 'pinia'
import { reactive } from 'vue'

/** What lies beside a task and is read when it is looked at. */
export type TaskResource = 'workspace' | 'timeline' | 'files' | 'hooks'

/** How often each of these has changed: whoever shows one reads it again when the number grows. */
export const useTaskInvalidation = defineStore('task-news', () => {
  const changes = reactive(new Map<string, number>())
  const keyOf = (taskId: string, what: TaskResource): string => `${what} ${taskId}`
  return {
    changed: (taskId: string, what: TaskResource): void => {
      const key = keyOf(taskId, what)
      changes.set(key, (changes.get(key) ?? 0) + 1)
    },
    /** Of any task, for whoever shows what lies beside several. */
    changesAnywhere: (what: TaskResource): number =>
      [...changes].reduce((sum, [key, times]) => (key.startsWith(`${what} `) ? sum + times : sum), 0),
    changesOf: (taskId: string, what: TaskResource): number => changes.get(keyOf(taskId, what)) ?? 0,
  }
})
