import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/vue-virtual'
import { computed, nextTick, ref, watch, type Ref } from 'vue'
import { parentRow, type TreeRow } from './file-tree.ts'

const HEIGHT = 26

interface Ports {
  readonly list: Readonly<Ref<HTMLElement | null>>
  rows(): readonly TreeRow[]
  /** Returns the path of the current file. */
  current(): string | null
  /** Opens or closes a folder. */
  toggle(path: string): void
}

/**
 * Returns the virtualized rows of the tree and the row in the tab order, which arrow keys start
 * from, so that Tab doesn't pass all rows.
 */
export function useTreeRows({ list, rows, current, toggle }: Ports) {
  const at = ref<string | null>(null)
  const indexOf = (path: string | null) => rows().findIndex((row) => row.path === path)
  const stop = computed(() => {
    const index = indexOf(at.value)
    return index >= 0 ? index : Math.max(0, indexOf(current()))
  })
  const virtualizer = useVirtualizer(
    computed(() => {
      // Always rendered, because it may have the focus.
      const kept = stop.value
      return {
        count: rows().length,
        getScrollElement: () => list.value,
        getItemKey: (index: number) => rows()[index]?.path ?? index,
        estimateSize: () => HEIGHT,
        paddingEnd: 8,
        overscan: 10,
        rangeExtractor: (range: Range) => [...new Set([kept, ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
      }
    }),
  )
  watch(current, (path) => {
    const index = indexOf(path)
    if (index >= 0) virtualizer.value.scrollToIndex(index, { align: 'auto' })
  })

  async function go(index: number): Promise<void> {
    const row = rows()[Math.min(Math.max(index, 0), rows().length - 1)]
    if (!row) return
    at.value = row.path
    virtualizer.value.scrollToIndex(indexOf(row.path), { align: 'auto' })
    await nextTick()
    list.value?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true })
  }
  function onSide(key: 'ArrowLeft' | 'ArrowRight', row: TreeRow): Promise<void> | void {
    const isOpen = row.kind === 'folder' && row.open
    if (row.kind === 'folder' && isOpen === (key === 'ArrowLeft')) toggle(row.path)
    else if (key === 'ArrowLeft') return go(parentRow(rows(), stop.value))
    else if (isOpen) return go(stop.value + 1)
  }
  return {
    virtualizer,
    stop,
    go,
    /** Called when a row receives the focus. */
    enter: (path: string): void => void (at.value = path),
    onKey(event: KeyboardEvent): void {
      const row = rows()[stop.value]
      if (!row || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      if (event.key === 'ArrowDown') void go(stop.value + 1)
      else if (event.key === 'ArrowUp') void go(stop.value - 1)
      else if (event.key === 'Home') void go(0)
      else if (event.key === 'End') void go(rows().length - 1)
      else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') void onSide(event.key, row)
      else return
      event.preventDefault()
      event.stopPropagation()
    },
  }
}
