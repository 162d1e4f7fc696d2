import { useTimeoutFn } from '@vueuse/core'
import { computed, watch, type Ref } from 'vue'

/** The time that a person needs to notice that the button below the pointer has changed. */
const unreadMs = 500

/**
 * Why what has just taken the place of something else can't be pressed yet, null soon after: the second click of a
 * double click, or a press that was meant for what stood there before, must not agree to what nobody has read.
 *
 * @param what what a press would agree to
 * @param fromStart it pushes other things aside when it appears, so that even the first is not to be pressed at once
 */
export function usePressDelay(what: () => unknown, { fromStart = false } = {}): Readonly<Ref<string | null>> {
  const { isPending, start } = useTimeoutFn(() => undefined, unreadMs, { immediate: false })
  watch(what, () => start(), { immediate: fromStart })
  return computed(() => (isPending.value ? 'Read it first.' : null))
}
