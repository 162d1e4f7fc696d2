import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'

/** Which run of a task's hooks is looked at; the activity tab chooses one too. Lives as long as the page. */
export const useHookView = defineStore('hook-view', () => {
  const chosen = shallowReactive(new Map<string, string>())
  return {
    chosen: (taskId: string): string | null => chosen.get(taskId) ?? null,
    choose: (taskId: string, logName: string): void => void chosen.set(taskId, logName),
  }
})
