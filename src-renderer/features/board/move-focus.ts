import type { BoardColumnModel } from './group-tasks.ts'

export type Direction = 'left' | 'right' | 'up' | 'down'

/** The card beside the focused one; columns without cards are stepped over, and edges hold. */
export function moveFocus(columns: readonly BoardColumnModel[], focused: string | null, to: Direction): string | null {
  const shown = columns.filter((column) => column.tasks.length > 0)
  const first = shown[0]?.tasks[0]?.id ?? null
  const columnAt = shown.findIndex((column) => column.tasks.some((task) => task.id === focused))
  const column = shown[columnAt]
  if (!column) return first
  const rowAt = column.tasks.findIndex((task) => task.id === focused)
  if (to === 'up' || to === 'down') return column.tasks[rowAt + (to === 'up' ? -1 : 1)]?.id ?? focused
  const next = shown[columnAt + (to === 'left' ? -1 : 1)]
  return next?.tasks[Math.min(rowAt, next.tasks.length - 1)]?.id ?? focused
}
