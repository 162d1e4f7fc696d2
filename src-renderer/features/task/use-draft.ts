import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { z } from 'zod'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useDrafts } from '../../stores/base/drafts.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { useToasts } from '../../stores/base/toasts.ts'

/** The fields that are edited in place. */
export type DraftPatch = Partial<Pick<Task, 'description' | 'labels' | 'priority'>> & {
  readonly review_config?: { readonly ci_steps: string[] }
}

/** The draft stored on this device: the text, and the version and text that it began from. */
const Kept = z.object({ text: z.string(), version: z.int(), original: z.string() })

/** The edit of one field of a task. */
export interface FieldDraft {
  /** The edited text; null while the field isn't edited. */
  readonly draft: Ref<string | null>
  /** Whether another person changed the task since the edit began. */
  readonly conflict: Ref<boolean>
  readonly saving: Readonly<Ref<boolean>>
  readonly editing: ComputedRef<boolean>
  /** The current text of the task. */
  readonly theirs: ComputedRef<string>
  /** Whether the edit began in this view; a stored draft must not take the focus. */
  readonly begun: Readonly<Ref<boolean>>
  readonly begin: () => void
  /** Discards the draft. */
  readonly cancel: () => void
  readonly save: () => Promise<void>
  /** Saves despite a conflict. */
  readonly saveAnyway: () => Promise<void>
}

/**
 * Returns the edit of one field. The draft is kept until it is saved or discarded, also across
 * reloads. If the task was changed since the edit began, saving sets `conflict` and keeps the
 * draft; `saveAnyway` overwrites.
 */
export function useDraft(
  field: string,
  task: () => Task,
  read: (task: Task) => string,
  write: (text: string) => DraftPatch,
): FieldDraft {
  const tasks = useTasks()
  const toasts = useToasts()
  const drafts = useDrafts()
  const key = () => `${field}/${task().id}`
  const kept = computed(() => Kept.safeParse(parseJson(drafts.get(key()) ?? '')).data ?? null)
  const keep = (next: z.infer<typeof Kept> | null) => drafts.keep(key(), next && JSON.stringify(next))
  const draft = computed<string | null>({
    get: () => kept.value?.text ?? null,
    set: (text) => keep(text === null || !kept.value ? null : { ...kept.value, text }),
  })
  const conflict = ref(false)
  const begun = ref(false)
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
      } else toasts.refusedOn(task(), error, 'Couldn’t save')
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
    begun,
    begin: () => {
      begun.value = true
      if (draft.value !== null) return
      const text = read(task())
      keep({ text, original: text, version: task().version })
      conflict.value = false
    },
    cancel: () => {
      draft.value = null
      conflict.value = false
    },
    save: async () => {
      const began = kept.value
      if (!began) return
      await send(began.version)
      // Another field was changed, so save without asking.
      if (conflict.value && read(task()) === began.original) await send(task().version)
    },
    saveAnyway: () => send(task().version),
  }
}
