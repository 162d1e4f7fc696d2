import { computed, ref, watch } from 'vue'
import { z } from 'zod'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { useDrafts } from '../../stores/base/drafts.ts'

const Kept = z.object({ id: z.string(), text: z.string(), base: z.string() })

export interface MessageEdit {
  /** Those that the agent has not got yet. */
  waiting(): readonly Execution[]
  /** Answers whether the message says it now. */
  change(id: string, text: string): Promise<boolean>
  /** The agent got the message, or somebody took it back, before it was changed: this is what was being written. */
  late(text: string): void
}

/** A message that waits while it is changed, one of a task's at a time. What is typed is kept until it got there. */
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
    /** Which one is changed. */
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
      // Somebody may look at another task by the time the answer comes.
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
