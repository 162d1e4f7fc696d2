import { computed, ref, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue'
import { formatCount } from '../formatters/format-amounts.ts'

/** A guard against pasted text that is too long to save and would block the browser for minutes. */
export interface PasteLimit {
  /** Handles `@paste` and `@drop`. */
  take(event: ClipboardEvent | DragEvent): void
  /** The sentence to show below the field; null if there is no problem. */
  readonly problem: ComputedRef<string | null>
  /** Whether the text itself is too long to send. */
  readonly tooLong: ComputedRef<boolean>
}

/** Creates the guard. `max`: the service's limit in characters. Files are refused without being read. */
export function usePasteLimit(text: () => string, max: MaybeRefOrGetter<number>): PasteLimit {
  const maxLength = toValue(max)
  const tooLongText = `This is too long: ${formatCount(maxLength)} characters at most. Add it as a file, or link to it.`
  const refused = ref<{ readonly words: string; readonly at: string } | null>(null)
  const tooLong = computed(() => text().length > maxLength)
  return {
    take(event) {
      const data = 'clipboardData' in event ? event.clipboardData : event.dataTransfer
      const isFile = (data?.files.length ?? 0) > 0 && !data?.types.includes('text/plain')
      refused.value = null
      if (!isFile && (data?.getData('text/plain').length ?? 0) <= maxLength) return
      event.preventDefault()
      refused.value = {
        words: isFile ? 'Files can’t be added here. Link to them instead.' : tooLongText,
        at: text(),
      }
    },
    // The note disappears as soon as the user continues to type.
    problem: computed(() => (tooLong.value ? tooLongText : refused.value?.at === text() ? refused.value.words : null)),
    tooLong,
  }
}
