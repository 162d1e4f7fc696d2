import { computed, nextTick, ref, watch, type Ref } from 'vue'

/** Near enough to the end to count as there: less than a row. */
const NEAR = 32

/**
 * Keeps a growing list at its end until somebody scrolls up, then counts what came since.
 * `length` is how many rows there are, `height` what changes when rows grow.
 */
export function useTail(element: Ref<HTMLElement | null>, length: () => number, height: () => number) {
  const following = ref(true)
  const seen = ref(0)
  let lastTop = 0
  const unseen = computed(() => (following.value ? 0 : Math.max(0, length() - seen.value)))

  function toEnd(): void {
    const box = element.value
    if (!box) return
    const before = box.scrollTop
    box.scrollTop = box.scrollHeight
    lastTop = box.scrollTop
    // The browser tells of it with the next frame, and this one would be painted with what was in sight before.
    if (lastTop !== before) box.dispatchEvent(new Event('scroll'))
  }
  function onScroll(): void {
    const box = element.value
    if (!box) return
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR
    // Rows that are measured taller push the end away without anybody scrolling: only a move upwards lets go.
    if (atEnd) following.value = true
    else if (box.scrollTop < lastTop - 2 && following.value) {
      following.value = false
      seen.value = length()
    }
    lastTop = box.scrollTop
  }
  async function follow(): Promise<void> {
    following.value = true
    await nextTick()
    toEnd()
  }

  watch(
    [length, height],
    () => {
      if (following.value) toEnd()
    },
    { flush: 'post' },
  )
  return { following, unseen, onScroll, follow }
}
