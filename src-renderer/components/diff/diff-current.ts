import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation, NotedItem } from './diff-notes.ts'

/** Says which file is at the top while somebody scrolls. */
export function trackCurrent(items: () => readonly NotedItem[], onCurrent: (path: string) => void) {
  // A file that was asked for stays the current one until somebody scrolls: near the end it cannot come to the top.
  let pinned = false
  return {
    pin: () => void (pinned = true),
    watch(root: HTMLElement, view: CodeView<DiffAnnotation>): void {
      for (const type of ['wheel', 'touchmove', 'pointerdown'] as const)
        root.addEventListener(type, () => (pinned = false), { passive: true })
      // The listeners go with the viewer and its element.
      view.subscribeToScroll((scrollTop) => {
        const current = pinned ? undefined : lastAbove(items(), (id) => view.getTopForItem(id), scrollTop + 24)
        if (current !== undefined) onCurrent(current)
      })
    },
  }
}

/** The last of the items that begins at or above `top`, else the first one. Their tops grow, so half are never looked at. */
export function lastAbove(
  items: readonly { readonly id: string }[],
  topOf: (id: string) => number | undefined,
  top: number,
): string | undefined {
  let [from, to] = [0, items.length - 1]
  while (from < to) {
    const middle = Math.ceil((from + to) / 2)
    if ((topOf(items[middle]?.id ?? '') ?? Infinity) <= top) from = middle
    else to = middle - 1
  }
  return items[from]?.id
}
