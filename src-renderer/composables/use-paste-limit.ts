import { computed, ref, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue'
import { formatCount } from '../formatters/format-amounts.ts'

/** Keeps out of a field what can't be kept, before a browser is busy with it for minutes. */
export interface PasteLimit {
  /** For `@paste` and `@drop`. */
  take(event: ClipboardEvent | DragEvent): void
  /** What to say below the field; null where all is well. */
  readonly problem: ComputedRef<string | null>
  /** The text itself is too long to be sent. */
  readonly tooLong: ComputedRef<boolean>
}

/** `longest`: as many characters as the service takes. A file is refused without a look into it. */
export function usePasteLimit(text: () => string, max: MaybeRefOrGetter<number>): PasteLimit {
  const longest = toValue(max)
  const words = `This is too long: ${formatCount(longest)} characters at most. Add it as a file, or link to it.`
  const refused = ref<{ readonly words: string; readonly at: string } | null>(null)
  const tooLong = computed(() => text().length > longest)
  return {
    take(event) {
      const data = 'clipboardData' in event ? event.clipboardData : event.dataTransfer
      const isFile = (data?.files.length ?? 0) > 0 && !data?.types.includes('text/plain')
      refused.value = null
      if (!isFile && (data?.getData('text/plain').length ?? 0) <= longest) return
      event.preventDefault()
      refused.value = {
        words: isFile ? 'Files can’t be added here. Link to them instead.' : words,
        at: text(),
      }
    },
    // A person who continues to type has read it.
    problem: computed(() => (tooLong.value ? words : refused.value?.at === text() ? refused.value.words : null)),
    tooLong,
  }
}
