import { nextTick, onBeforeUnmount, type ShallowRef } from 'vue'

interface Surrounding {
  readonly parent: Element
  readonly before: Element | null
}

const stops = 'a[href], button:not(:disabled), input:not(:disabled), textarea, select, [tabindex]:not([tabindex="-1"])'

/** Moves the focus to the next element when an element that contains it is removed. */
export function useFocusRestore(root: Readonly<ShallowRef<HTMLElement | null>>): void {
  onBeforeUnmount(() => {
    if (!root.value?.contains(document.activeElement)) return
    const places = placesAround(root.value)
    void nextTick(() => {
      if (document.activeElement === document.body) stopAfter(places)?.focus()
    })
  })
}

/** Returns the element's position in each ancestor, from the inside out: inner ancestors may be removed with it. */
function placesAround(element: Element): Surrounding[] {
  const places: Surrounding[] = []
  for (let inner = element; inner.parentElement; inner = inner.parentElement)
    places.push({ parent: inner.parentElement, before: inner.previousElementSibling })
  return places
}

function stopAfter(places: readonly Surrounding[]): HTMLElement | undefined {
  for (const { parent, before } of places) {
    if (!parent.isConnected) continue
    const all = [...parent.querySelectorAll<HTMLElement>(stops)].filter((stop) => stop.tabIndex >= 0)
    const next = all.find((stop) => before === null || follows(before, stop))
    const found = next ?? all.at(-1)
    if (found) return found
  }
  return undefined
}

const follows = (before: Element, stop: Element) =>
  (before.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 && !before.contains(stop)
