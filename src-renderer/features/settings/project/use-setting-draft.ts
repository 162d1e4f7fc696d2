import { computed } from 'vue'
import { z } from 'zod'
import { parseJson } from '../../../../src-shared/lang/parse-json.ts'
import { useDrafts } from '../../../stores/base/drafts.ts'

/** What is kept of an edit on this device: the words, and what they began from. */
const Kept = z.object({ text: z.string(), base: z.string() })

/**
 * The words of a setting while they are edited. What is typed is kept until it is saved or given up, also when the page
 * goes; what is saved elsewhere shows at once where nothing is typed.
 *
 * @param key where the draft is kept
 * @param saved the words that hold
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
    /** Somebody saved other words since these were begun. */
    overtaken: computed(() => changed.value && kept.value?.base !== saved()),
    discard,
    /** `sent` holds now; what was typed since is not lost. */
    settle: (sent: string): void => (text.value === sent ? discard() : keep(text.value, saved())),
  }
}
