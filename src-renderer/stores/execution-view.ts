import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'

/** Which run of a task is looked at; the activity tab chooses one too. Without a choice it is the newest. */
export const useExecutionView = defineStore('execution-view', () => {
  const chosen = shallowReactive(new Map<string, string>())
  return {
    chosen: (taskId: string): string | null => chosen.get(taskId) ?? null,
    choose: (taskId: string, executionId: string): void => void chosen.set(taskId, executionId),
    /** Back to the newest one. */
    leave: (taskId: string): void => void chosen.delete(taskId),
  }
})
