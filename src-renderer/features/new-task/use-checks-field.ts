import { computed, ref } from 'vue'
import { stepsOf, type TaskDraft } from './task-draft.ts'

/** Whether the field of the checks is shown, and what its button says. */
export function useChecksField(draft: Pick<TaskDraft, 'steps' | 'withoutChecks'>, defaults: () => readonly string[]) {
  const open = ref(false)
  /** It was opened by its button, to be written in. */
  const asked = ref(false)
  return {
    open: computed({
      get: () => open.value,
      set: (next) => {
        open.value = next
        asked.value = true
      },
    }),
    asked,
    text: computed(() => {
      if (draft.withoutChecks) return 'none'
      const own = stepsOf(draft.steps).length
      return own > 0 ? `${own} of its own` : defaults().length > 0 ? 'project default' : 'none'
    }),
    /** Shows what was filled in. */
    show(): void {
      asked.value = false
      open.value = draft.steps !== '' || draft.withoutChecks
    },
  }
}
