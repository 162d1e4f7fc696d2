import { defineStore } from 'pinia'
import { ref, shallowReactive } from 'vue'

/** How open tasks are looked at. Lives as long as the page, so that the next task opens the same way. */
export const useTaskView = defineStore('task-view', () => {
  /** The panel covers the board. */
  const full = ref(false)
  return {
    full,
    toggleFull: () => (full.value = !full.value),
    /** Which of a task's executions is looked at, by id. Without a choice it is the newest. */
    executions: createChoices(),
    /** Which run of a task's hooks is looked at, by the name of its log. */
    hookRuns: createChoices(),
  }
})

/** What was chosen of each task: in its own tab, or in the timeline, which leads there. */
function createChoices() {
  const byTask = shallowReactive(new Map<string, string>())
  return {
    of: (taskId: string): string | null => byTask.get(taskId) ?? null,
    choose: (taskId: string, what: string): void => void byTask.set(taskId, what),
    clear: (taskId: string): void => void byTask.delete(taskId),
  }
}
