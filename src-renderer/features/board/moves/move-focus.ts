import type { Task } from '../../../../src-shared/contract/tasks.ts'

export type Direction = 'left' | 'right' | 'up' | 'down'

/** Returns the card next to the focused one; skips empty columns and stops at edges. */
export function moveFocus(
  columns: readonly { readonly cards: readonly Task[] }[],
  focused: string | null,
  to: Direction,
): string | null {
  const shown = columns.filter((column) => column.cards.length > 0)
  const first = shown[0]?.cards[0]?.id ?? null
  const columnAt = shown.findIndex((column) => column.cards.some((task) => task.id === focused))
  const column = shown[columnAt]
  if (!column) return first
  const rowAt = column.cards.findIndex((task) => task.id === focused)
  if (to === 'up' || to === 'down') return column.cards[rowAt + (to === 'up' ? -1 : 1)]?.id ?? focused
  const next = shown[columnAt + (to === 'left' ? -1 : 1)]
  return next?.cards[Math.min(rowAt, next.cards.length - 1)]?.id ?? focused
}
