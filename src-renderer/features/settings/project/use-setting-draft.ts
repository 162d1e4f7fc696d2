import { computed } from 'vue'
import { z } from 'zod'
import { parseJson } from '../../../../src-shared/lang/parse-json.ts'
import { useDrafts } from '../../../stores/base/drafts.ts'

/** The draft stored on this device: the text, and the saved text that it began from. */
const Kept = z.object({ text: z.string(), base: z.string() })

/**
 * Returns the text of a setting while it is edited. The draft is kept until it is saved or
 * discarded, also across reloads. Without a draft, a value saved elsewhere shows at once.
 *
 * @param key the key of the stored draft
 * @param saved the saved text
 */
export function useSettingDraft(key: () => string, saved: () => string) {
  const drafts = useDrafts()
  const kept = computed(() => Kept.safeParse(parseJson(drafts.get(key()) ?? '')).data ?? null)
  function keep(text: string, base: string): void {
    drafts.keep(key(), text === saved() ? null : JSON.stringify({ text, base }))
  }
  const text = computed({
    get: () => kept.value?.text ?? saved(),
    set: (typed) => keep(typed, kept.value?.base ?? saved()),
  })
  const changed = computed(() => text.value !== saved())
  function discard(): void {
    drafts.keep(key(), null)
  }
  return {
    text,
    changed,
    /** Whether another person saved other text since the draft began. */
    overtaken: computed(() => changed.value && kept.value?.base !== saved()),
    discard,
    /** Ends the draft after `sent` was saved; text typed since then stays. */
    settle: (sent: string): void => (text.value === sent ? discard() : keep(text.value, saved())),
  }
}
