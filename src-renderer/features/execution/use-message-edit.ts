import { computed, ref, watch } from 'vue'
import { z } from 'zod'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useDrafts } from '../../stores/base/drafts.ts'

const Kept = z.object({ id: z.string(), text: z.string(), base: z.string() })

export interface MessageEdit {
  /** Returns the messages that the agent hasn't received yet. */
  waiting(): readonly Execution[]
  /** Resolves to whether the message was changed. */
  change(id: string, text: string): Promise<boolean>
  /** Called with the draft if the message was received or withdrawn before it was changed. */
  late(text: string): void
}

/** Edits a waiting message, one per task at a time. The draft is kept until it is saved. */
export function useMessageEdit(taskId: () => string, { waiting, change, late }: MessageEdit) {
  const drafts = useDrafts()
  const key = () => `waiting/${taskId()}`
  const kept = computed(() => Kept.safeParse(parseJson(drafts.get(key()) ?? '')).data ?? null)
  const keep = (next: z.infer<typeof Kept> | null) => drafts.keep(key(), next && JSON.stringify(next))
  const saving = ref(false)

  watch(
    [kept, waiting, saving],
    () => {
      if (kept.value === null || saving.value || waiting().some(({ id }) => id === kept.value?.id)) return
      const { text, base } = kept.value
      keep(null)
      if (text.trim() !== '' && text !== base) late(text)
    },
    { immediate: true },
  )
  return {
    /** The ID of the edited message. */
    id: computed(() => kept.value?.id ?? null),
    saving,
    text: computed({
      get: () => kept.value?.text ?? '',
      set: (text) => kept.value && keep({ ...kept.value, text }),
    }),
    begin: ({ id, message }: Execution): void => keep({ id, text: message ?? '', base: message ?? '' }),
    giveUp: (): void => keep(null),
    async save(): Promise<void> {
      const sent = kept.value
      if (sent === null || sent.text.trim() === '' || saving.value) return
      // The user may have opened another task before the response arrives.
      const at = key()
      saving.value = true
      try {
        if (await change(sent.id, sent.text.trim())) drafts.keep(at, null)
      } finally {
        saving.value = false
      }
    },
  }
}
