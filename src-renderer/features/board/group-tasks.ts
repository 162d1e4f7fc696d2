import { compareIds } from '../../../src-shared/lang/compare-ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { CardOrder } from '../../stores/tasks/board-views.ts'
import type { BoardColumnShape } from '../../model/workflow-shape.ts'
import type { TaskPlacement } from '../../stores/tasks/task-changes.ts'
import { shortId } from '../../formatters/short-id.ts'

/** Finished tasks that a column shows at most. */
export const maxFinishedShown = 50

/** A column with all its tasks in order, and the `cards` that it shows. */
export interface BoardColumnModel extends BoardColumnShape {
  readonly tasks: readonly Task[]
  /** All unfinished tasks and the latest finished ones. */
  readonly cards: readonly Task[]
  /** Tasks of the column that are not loaded yet. */
  readonly coming: number
}

/** The number of tasks of a state that are not loaded yet. */
export interface UnloadedTasks {
  readonly projectId: string
  readonly status: string
  readonly count: number
}

/**
 * Groups tasks into the columns of their states. A task whose state was removed goes to the first
 * column.
 */
export function groupTasks(
  columns: readonly BoardColumnShape[],
  tasks: readonly Task[],
  coming: readonly UnloadedTasks[] = [],
  order: CardOrder = 'manual',
): BoardColumnModel[] {
  const columnOf = new Map(
    columns.flatMap((column) =>
      [...column.statesIn].flatMap(([projectId, states]) =>
        states.map((state) => [`${projectId}/${state.name}`, column.name] as const),
      ),
    ),
  )
  const fallback = columns[0]?.name
  const nameFor = (projectId: string, status: string) => columnOf.get(`${projectId}/${status}`) ?? fallback ?? ''
  const byColumn = new Map<string, Task[]>(columns.map((column) => [column.name, []]))
  for (const task of tasks) byColumn.get(nameFor(task.project_id, task.status))?.push(task)
  return columns.map((column) => {
    const own = (byColumn.get(column.name) ?? []).sort(column.terminal ? newestFirst : orders[order])
    const others = coming.filter(({ projectId, status }) => nameFor(projectId, status) === column.name)
    return {
      ...column,
      tasks: own,
      cards: column.terminal ? own.slice(0, maxFinishedShown) : own,
      coming: others.reduce((sum, { count }) => sum + count, 0),
    }
  })
}

/**
 * Returns a predicate for tasks whose title, description, labels, number or ID contain every word
 * of `query`.
 */
export function matcher(query: string): (task: Task) => boolean {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return (task) => {
    if (words.length === 0) return true
    const text = [task.title, task.description ?? '', ...task.labels, task.ref, shortId(task.id)]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/**
 * Returns the placement after a drop between two cards or a step by keyboard; null if nothing
 * changes.
 */
export function placementOf(
  cards: readonly Task[],
  taskId: string,
  beside: string,
  edge: 'above' | 'below',
): TaskPlacement | null {
  const others = cards.filter(({ id }) => id !== taskId)
  const at = others.findIndex(({ id }) => id === beside)
  const own = cards.findIndex(({ id }) => id === taskId)
  const other = others[at]
  if (!other) return null
  const gap = edge === 'above' ? at : at + 1
  if (gap === own) return null
  const [upper, lower] = [others[gap - 1], others[gap]]
  const position =
    upper && lower ? (upper.position + lower.position) / 2 : upper ? upper.position - 1 : (lower?.position ?? 0) + 1
  return edge === 'above' ? { position, above: other.id } : { position, below: other.id }
}

/** Compares by manual position: highest first, then newest first. */
export function byPosition(a: Task, b: Task): number {
  return b.position - a.position || compareIds(b.id, a.id)
}
const orders: Readonly<Record<CardOrder, (a: Task, b: Task) => number>> = {
  manual: byPosition,
  priority: (a, b) => b.priority - a.priority || byPosition(a, b),
  updated: newestFirst,
}
function newestFirst(a: Task, b: Task): number {
  return a.updated_at === b.updated_at ? byPosition(a, b) : a.updated_at < b.updated_at ? 1 : -1
}
