import { elementScroll, measureElement, type Rect, type Virtualizer } from '@tanstack/vue-virtual'

/**
 * Returns the height of a virtual item from the observer, which runs after layout and before paint.
 * Until then returns the estimate, because reading the DOM would force a layout per item.
 */
export function measureLate<E extends Element>(
  element: E,
  entry: ResizeObserverEntry | undefined,
  list: Virtualizer<HTMLDivElement, E>,
): number {
  const index = list.indexFromElement(element)
  const isKnown = entry !== undefined || list.itemSizeCache.has(list.options.getItemKey(index))
  return isKnown ? measureElement(element, entry, list) : list.options.estimateSize(index)
}

/**
 * Reports the size of the scroll element from an observer, without a forced layout. Until then
 * `initialRect` applies.
 */
export function observeSizeLate(list: Virtualizer<HTMLDivElement, Element>, tell: (rect: Rect) => void): () => void {
  const box = list.scrollElement
  const observer = new ResizeObserver((entries) => {
    const size = entries.at(-1)?.borderBoxSize[0]
    if (size) tell({ width: Math.round(size.inlineSize), height: Math.round(size.blockSize) })
  })
  if (box) observer.observe(box)
  return () => observer.disconnect()
}

/** Scrolls, unless the list is already at the top: a new list would force a layout for nothing. */
export const scrollIfAway: typeof elementScroll<HTMLDivElement> = (offset, options, list) => {
  const isThere = offset === 0 && !options.adjustments && (list.scrollOffset ?? 0) === 0
  if (!isThere) elementScroll(offset, options, list)
}
