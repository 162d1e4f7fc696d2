import { defineStore } from 'pinia'
import { reactive } from 'vue'

/** How often each task's worktree has changed: whoever shows one reads it again when the number grows. */
export const useWorkspaces = defineStore('workspaces', () => {
  const changes = reactive(new Map<string, number>())
  return {
    changed: (taskId: string): void => void changes.set(taskId, (changes.get(taskId) ?? 0) + 1),
    changesOf: (taskId: string): number => changes.get(taskId) ?? 0,
  }
})
