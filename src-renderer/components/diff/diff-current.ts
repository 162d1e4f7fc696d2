import type { CodeView } from '@pierre/diffs'
import type { DiffAnnotation, NotedItem } from './diff-notes.ts'

/** Reports the file at the top while the user scrolls. */
export function trackCurrent(items: () => readonly NotedItem[], onCurrent: (path: string) => void) {
  // A requested file stays current until the user scrolls, because near the end it can't reach the top.
  let pinned = false
  return {
    pin: () => void (pinned = true),
    watch(root: HTMLElement, view: CodeView<DiffAnnotation>): void {
      for (const type of ['wheel', 'touchmove', 'pointerdown'] as const)
        root.addEventListener(type, () => (pinned = false), { passive: true })
      // The listeners disappear with the viewer and its element.
      view.subscribeToScroll((scrollTop) => {
        const current = pinned ? undefined : lastAbove(items(), (id) => view.getTopForItem(id), scrollTop + 24)
        if (current !== undefined) onCurrent(current)
      })
    },
  }
}

/**
 * Returns the last item that begins at or above `top`, else the first one. A binary search, because
 * tops are sorted.
 */
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
