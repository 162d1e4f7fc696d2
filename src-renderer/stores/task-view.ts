import { defineStore } from 'pinia'
import { ref } from 'vue'

/** How the open task is shown. Lives as long as the page, so the next task opens the same way. */
export const useTaskView = defineStore('task-view', () => {
  /** The panel covers the board. */
  const full = ref(false)
  return { full, toggleFull: () => (full.value = !full.value) }
})
