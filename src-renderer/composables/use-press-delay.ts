import { useTimeoutFn } from '@vueuse/core'
import { computed, watch, type Ref } from 'vue'

/** The time in milliseconds that a person needs to notice that the button below the pointer has changed. */
const unreadMs = 500

/**
 * Returns a reason to refuse presses shortly after `what` changes, else null. So a double click, or
 * a press meant for the previous control, can't confirm something unread.
 *
 * @param what the thing that a press confirms
 * @param fromStart whether presses are also refused just after mounting, because the control moves
 * others
 */
export function usePressDelay(what: () => unknown, { fromStart = false } = {}): Readonly<Ref<string | null>> {
  const { isPending, start } = useTimeoutFn(() => undefined, unreadMs, { immediate: false })
  watch(what, () => start(), { immediate: fromStart })
  return computed(() => (isPending.value ? 'Read it first.' : null))
}
