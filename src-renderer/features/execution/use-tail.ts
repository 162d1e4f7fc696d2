import { computed, nextTick, ref, watch, type Ref } from 'vue'

/** Distance from the end in pixels that counts as the end: less than a row. */
const nearEndPixels = 32

/**
 * Keeps a growing list scrolled to its end until a person scrolls up, then counts new rows.
 * `length` is the number of rows; `height` changes when rows grow.
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
    // The browser dispatches the event in the next frame, after this one is painted with the old
    // rows.
    if (lastTop !== before) box.dispatchEvent(new Event('scroll'))
  }
  function onScroll(): void {
    const box = element.value
    if (!box) return
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEndPixels
    // Taller measured rows move the end without a scroll, so only scrolling up stops following.
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
  /** Stays where it is when the list grows, as if a person had scrolled up. */
  function leave(): void {
    following.value = false
    seen.value = length()
  }
  return { following, unseen, onScroll, follow, leave }
}
