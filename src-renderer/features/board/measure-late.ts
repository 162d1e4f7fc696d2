import { measureElement, type Virtualizer } from '@tanstack/vue-virtual'

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
