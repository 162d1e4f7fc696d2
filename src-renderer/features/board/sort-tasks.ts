import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { BoardView, SortColumn } from '../../stores/tasks/board-views.ts'
import { byPosition } from './group-tasks.ts'

/** Sort keys that are not fields of the task. */
export interface SortFacts {
  /** Returns the position of the task's state in its workflow. */
  state(task: Task): number
  project(task: Task): string
  who(task: Task): string
  /** Returns the rank of the current activity: running agents first, then tasks that need a person. */
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
/** Columns that sort descending on the first click. */
const largestFirst: readonly SortColumn[] = ['priority', 'added', 'removed', 'updated']

/** Sorts tasks by a column. Equal tasks keep the order of the board. */
export function sortTasks(tasks: readonly Task[], sort: BoardView['sort'], facts: SortFacts): readonly Task[] {
  const sign = sort.descending ? -1 : 1
  return tasks
    .map((task) => ({ task, key: keys[sort.column](task, facts) }))
    .sort((a, b) => (a.key === b.key ? byPosition(a.task, b.task) : a.key < b.key ? -sign : sign))
    .map(({ task }) => task)
}

/** Returns the sort order after a click on a column heading. */
export function nextSort(sort: BoardView['sort'], column: SortColumn): BoardView['sort'] {
  if (sort.column === column) return { column, descending: !sort.descending }
  return { column, descending: largestFirst.includes(column) }
}
