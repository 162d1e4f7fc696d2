import { computed, ref } from 'vue'
import { stepsOf, type TaskDraft } from './task-draft.ts'

/** Returns the state of the checks field and the text of its button. */
export function useChecksField(draft: Pick<TaskDraft, 'steps' | 'withoutChecks'>, defaults: () => readonly string[]) {
  const open = ref(false)
  /** Whether its button opened the field, so that it takes the focus. */
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
    /** Opens the field if it isn't empty. */
    show(): void {
      asked.value = false
      open.value = draft.steps !== '' || draft.withoutChecks
    },
  }
}
