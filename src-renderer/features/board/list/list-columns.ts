import type { SortColumn } from '../../../stores/tasks/board-views.ts'

/**
 * A column of the list: heading, width and the list width from which it is shown. `state` always
 * shows its icon, and its label if there is room.
 */
export interface ListColumn {
  readonly id: SortColumn
  readonly label: string
  /** The width in pixels; null takes the rest. */
  readonly width: number | null
  readonly shown: 'always' | 'state' | 'roomy' | 'mid' | 'wide'
  readonly right?: boolean
}

export const listColumns: readonly ListColumn[] = [
  { id: 'project', label: 'Project', width: 120, shown: 'roomy' },
  { id: 'state', label: 'State', width: 136, shown: 'state' },
  { id: 'priority', label: 'Priority', width: 40, shown: 'roomy' },
  { id: 'id', label: 'ID', width: 86, shown: 'roomy' },
  { id: 'title', label: 'Title', width: null, shown: 'always' },
  { id: 'who', label: 'Assignee', width: 84, shown: 'wide' },
  { id: 'now', label: 'Activity', width: 290, shown: 'mid' },
  { id: 'added', label: 'Added', width: 78, shown: 'wide', right: true },
  { id: 'removed', label: 'Removed', width: 92, shown: 'wide', right: true },
  { id: 'review', label: 'Review', width: 112, shown: 'wide' },
  { id: 'updated', label: 'Updated', width: 104, shown: 'wide', right: true },
]

/** The widths at which board-list.css and list.css hide columns. */
const leftOut = { wide: 1000, mid: 620, roomy: 480, state: 0, always: 0 } as const

/** Returns whether the list has no room for the column of the activity. */
export const isNarrow = (width: number): boolean => width > 0 && width <= leftOut.mid

/** Returns the number of columns shown in a list of `width` pixels. */
export const countShown = (columns: readonly ListColumn[], width: number): number =>
  columns.filter(({ shown }) => width > leftOut[shown]).length
