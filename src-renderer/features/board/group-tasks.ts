import type { Task } from '../../../src-shared/contract/tasks.ts'
import { shortId } from '../../composables/short-id.ts'
import type { ColumnShape } from '../../stores/workflow-shape.ts'

/** A column with the cards that it shows, in their order. */
export interface BoardColumnModel extends ColumnShape {
  readonly tasks: readonly Task[]
}

/** Puts every task into the column of its state; a task in a state that is gone goes to the first column. */
export function groupTasks(columns: readonly ColumnShape[], tasks: readonly Task[]): BoardColumnModel[] {
  const columnOf = new Map(
    columns.flatMap((column) => column.states.map((state) => [state.name, column.name] as const)),
  )
  const fallback = columns[0]?.name
  const byColumn = new Map<string, Task[]>(columns.map((column) => [column.name, []]))
  for (const task of tasks) byColumn.get(columnOf.get(task.status) ?? fallback ?? '')?.push(task)
  return columns.map((column) => ({
    ...column,
    tasks: (byColumn.get(column.name) ?? []).sort(column.terminal ? newestFirst : byPosition),
  }))
}

/** Whether a task holds every word of the search, in its title, description, labels or id. */
export function matches(task: Task, query: string): boolean {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return true
  const text = [task.title, task.description ?? '', ...task.labels, shortId(task.id)].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}

function byPosition(a: Task, b: Task): number {
  return b.position - a.position || (a.id < b.id ? 1 : -1)
}
function newestFirst(a: Task, b: Task): number {
  return a.updated_at === b.updated_at ? byPosition(a, b) : a.updated_at < b.updated_at ? 1 : -1
}
