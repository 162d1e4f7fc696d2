import { ref, type Ref, type ShallowRef } from 'vue'
import type { BoardColumnModel } from '../group-tasks.ts'

export interface ColumnSwipe {
  /** The index of the shown column. */
  readonly current: Readonly<Ref<number>>
  /** Call when the board was scrolled. */
  onScroll(): void
  show(index: number): void
  /** Shows the first column with tasks; on an empty board the one that says how to make the first. */
  showFirst(): void
}

/** Shows one column of the board at a time: its width is that of the board, which stops at each. */
export function useColumnSwipe(
  root: Readonly<ShallowRef<HTMLElement | null>>,
  columns: () => readonly BoardColumnModel[],
): ColumnSwipe {
  const current = ref(0)
  function onScroll(): void {
    const { scrollLeft = 0, clientWidth = 0 } = root.value ?? {}
    if (clientWidth > 0) current.value = Math.round(scrollLeft / clientWidth)
  }
  function show(index: number): void {
    if (!root.value) return
    root.value.scrollLeft = index * root.value.clientWidth
    current.value = index
  }
  return {
    current,
    onScroll,
    show,
    showFirst() {
      const filled = columns().filter(({ tasks }) => tasks.length > 0)
      const begun = filled.find(({ states }) => states.some(({ kind }) => kind !== 'backlog' && kind !== 'initial'))
      const initial = columns().find(({ states }) => states.some(({ kind }) => kind === 'initial'))
      const first = begun ?? filled[0] ?? initial
      if (first) show(columns().indexOf(first))
    },
  }
}
