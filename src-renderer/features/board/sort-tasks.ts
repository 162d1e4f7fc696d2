import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { BoardView, SortColumn } from '../../stores/tasks/board-views.ts'
import { byPosition } from './group-tasks.ts'

/** What tasks are sorted by that they do not say themselves. */
export interface SortFacts {
  /** Where its state stands in the workflow. */
  state(task: Task): number
  project(task: Task): string
  who(task: Task): string
  /** What happens now: agents at work first, then what needs a person. */
  now(task: Task): number
}

const reviews = ['failed', 'running', 'pending', 'cancelled', 'passed']
const keys: Readonly<Record<SortColumn, (task: Task, facts: SortFacts) => string | number>> = {
  project: (task, facts) => facts.project(task).toLowerCase(),
  state: (task, facts) => facts.state(task),
  priority: (task) => task.priority,
  id: (task) => task.id,
  title: (task) => task.title.toLowerCase(),
  who: (task, facts) => facts.who(task).toLowerCase() || '\uffff',
  now: (task, facts) => facts.now(task),
  added: (task) => task.diff_stat?.additions ?? -1,
  removed: (task) => task.diff_stat?.deletions ?? -1,
  review: (task) => (task.review_summary ? reviews.indexOf(task.review_summary.status) : reviews.length),
  updated: (task) => task.updated_at,
}
/** Columns of which one wants to see the largest first. */
const largestFirst: readonly SortColumn[] = ['priority', 'added', 'removed', 'updated']

/** The tasks by a column; what is equal there stands as on the board. */
export function sortTasks(tasks: readonly Task[], sort: BoardView['sort'], facts: SortFacts): readonly Task[] {
  const sign = sort.descending ? -1 : 1
  return tasks
    .map((task) => ({ task, key: keys[sort.column](task, facts) }))
    .sort((a, b) => (a.key === b.key ? byPosition(a.task, b.task) : a.key < b.key ? -sign : sign))
    .map(({ task }) => task)
}

/** The order after a click on the head of a column. */
export function nextSort(sort: BoardView['sort'], column: SortColumn): BoardView['sort'] {
  if (sort.column === column) return { column, descending: !sort.descending }
  return { column, descending: largestFirst.includes(column) }
}
