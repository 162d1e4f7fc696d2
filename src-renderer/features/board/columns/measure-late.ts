import { elementScroll, measureElement, type Rect, type Virtualizer } from '@tanstack/vue-virtual'

/**
 * The height of an element of a virtual list once the browser has laid it out, which is before it paints it. Until
 * then its estimate holds: to ask sooner would lay out the page once for each element that comes.
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

/** Tells how large the box of a virtual list is once the browser has laid it out. Until then its `initialRect` holds. */
export function observeSizeLate(list: Virtualizer<HTMLDivElement, Element>, tell: (rect: Rect) => void): () => void {
  const box = list.scrollElement
  const observer = new ResizeObserver((entries) => {
    const size = entries.at(-1)?.borderBoxSize[0]
    if (size) tell({ width: Math.round(size.inlineSize), height: Math.round(size.blockSize) })
  })
  if (box) observer.observe(box)
  return () => observer.disconnect()
}

/** Scrolls, but not to the top of a list that is there: a new one would lay out the page to stay where it is. */
export const scrollIfAway: typeof elementScroll<HTMLDivElement> = (offset, options, list) => {
  const isThere = offset === 0 && !options.adjustments && (list.scrollOffset ?? 0) === 0
  if (!isThere) elementScroll(offset, options, list)
}
