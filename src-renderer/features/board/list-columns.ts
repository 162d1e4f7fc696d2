import type { SortColumn } from '../../stores/board-views.ts'

/** A column of the list: what its head says, how wide it is, and from which width of the list on it is shown. */
export interface ListColumn {
  readonly id: SortColumn
  readonly label: string
  /** In pixels; without it the rest is its. */
  readonly width: number | null
  readonly shown: 'always' | 'mid' | 'wide'
  readonly right?: boolean
}

export const listColumns: readonly ListColumn[] = [
  { id: 'project', label: 'Project', width: 120, shown: 'always' },
  { id: 'state', label: 'State', width: 136, shown: 'always' },
  { id: 'priority', label: 'Priority', width: 40, shown: 'always' },
  { id: 'id', label: 'ID', width: 86, shown: 'always' },
  { id: 'title', label: 'Title', width: null, shown: 'always' },
  { id: 'who', label: 'Assignee', width: 84, shown: 'wide' },
  { id: 'now', label: 'Activity', width: 290, shown: 'mid' },
  { id: 'added', label: 'Added', width: 78, shown: 'wide', right: true },
  { id: 'removed', label: 'Removed', width: 92, shown: 'wide', right: true },
  { id: 'review', label: 'Review', width: 112, shown: 'wide' },
  { id: 'updated', label: 'Updated', width: 104, shown: 'wide', right: true },
]
