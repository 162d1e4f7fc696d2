import { defineStore } from 'pinia'
import { ref, shallowReactive } from 'vue'

/** The view settings of open tasks. They live as long as the page, so the next task opens the same way. */
export const useTaskView = defineStore('task-view', () => {
  /** Whether the panel covers the board. */
  const full = ref(false)
  return {
    full,
    toggleFull: () => (full.value = !full.value),
    /** The selected execution of each task, by ID. Without a choice the newest is shown. */
    executions: createChoices(),
    /** The selected hook run of each task, by the name of its log. */
    hookRuns: createChoices(),
  }
})

/** Creates the selections by task, made in the task's own tab or in the timeline. */
function createChoices() {
  const byTask = shallowReactive(new Map<string, string>())
  return {
    of: (taskId: string): string | null => byTask.get(taskId) ?? null,
    choose: (taskId: string, what: string): void => void byTask.set(taskId, what),
    clear: (taskId: string): void => void byTask.delete(taskId),
  }
}
