import { computed, ref } from 'vue'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useTasks } from '../../stores/tasks.ts'
import { useToasts } from '../../stores/toasts.ts'

/** The fields that are edited in place. */
export type DraftPatch = Partial<Pick<Task, 'description' | 'labels' | 'priority'>> & {
  readonly review_config?: { readonly ci_steps: string[] }
}

/**
 * Editing one field of a task. Saving is refused when somebody changed the task since the edit began:
 * the draft then stays, with `conflict` set, and is saved only when the person says so.
 */
export function useDraft(task: () => Task, read: (task: Task) => string, write: (text: string) => DraftPatch) {
  const tasks = useTasks()
  const toasts = useToasts()
  const draft = ref<string | null>(null)
  const basedOn = ref(0)
  const original = ref('')
  const conflict = ref(false)
  const saving = ref(false)

  async function send(version: number): Promise<void> {
    if (draft.value === null) return
    saving.value = true
    try {
      await tasks.update({ task_id: task().id, version, ...write(draft.value) })
      draft.value = null
      conflict.value = false
    } catch (error) {
      if (error instanceof ApiError && error.code === 'version_conflict') {
        await tasks.fetch(task().id)
        conflict.value = true
      } else toasts.refused(error, 'It was not saved.')
    } finally {
      saving.value = false
    }
  }

  return {
    draft,
    conflict,
    saving,
    editing: computed(() => draft.value !== null),
    theirs: computed(() => read(task())),
    begin: () => {
      if (draft.value !== null) return
      draft.value = read(task())
      original.value = draft.value
      basedOn.value = task().version
      conflict.value = false
    },
    cancel: () => {
      draft.value = null
      conflict.value = false
    },
    save: async () => {
      await send(basedOn.value)
      // Somebody moved or relabelled it meanwhile: no reason to ask while this field is what it was.
      if (conflict.value && read(task()) === original.value) await send(task().version)
    },
    saveAnyway: () => send(task().version),
  }
}
