import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { StateGlyphName } from '../../model/workflow-shape.ts'
import type { ListGrouping } from '../../stores/tasks/board-views.ts'

/** A group of list rows below a heading. */
export interface ListGroup {
  readonly key: string
  readonly label: string
  readonly glyph: StateGlyphName | null
  readonly tasks: readonly Task[]
}

/** A line of the list: the heading of a group, or a task. */
export type ListLine =
  | { readonly kind: 'head'; readonly group: ListGroup; readonly folded: boolean }
  | { readonly kind: 'task'; readonly task: Task }

export interface GroupFacts {
  stateOfTask(
    task: Task,
  ): { readonly state: Pick<WorkflowState, 'kind' | 'label'>; readonly glyph: StateGlyphName } | undefined
  projectName(task: Task): string
  /** Returns the position of the task's state in its workflow. */
  rank(task: Task): number
}

/** The order of state groups: active work first, then queued, then finished. */
const order: readonly WorkflowState['kind'][] = ['active', 'gate', 'custom', 'initial', 'backlog', 'terminal']

/** Groups tasks by state or project and keeps their order within a group. `none` returns one group. */
export function groupRows(tasks: readonly Task[], by: ListGrouping, facts: GroupFacts): readonly ListGroup[] {
  if (by === 'none') return [{ key: 'all', label: '', glyph: null, tasks }]
  const groups = new Map<string, { place: number; name: string; group: ListGroup & { tasks: Task[] } }>()
  for (const task of tasks) {
    const known = facts.stateOfTask(task)
    const label = by === 'project' ? facts.projectName(task) : (known?.state.label ?? task.status)
    const key = by === 'project' ? task.project_id : label
    const found = groups.get(key)
    if (found) found.group.tasks.push(task)
    else {
      const kind = known ? order.indexOf(known.state.kind) : -1
      const place = by === 'project' ? 0 : kind * 1_000 + facts.rank(task)
      const glyph = by === 'project' ? null : (known?.glyph ?? 'custom')
      groups.set(key, { place, name: label.toLowerCase(), group: { key, label, glyph, tasks: [task] } })
    }
  }
  return [...groups.values()]
    .sort((one, other) => one.place - other.place || one.name.localeCompare(other.name))
    .map(({ group }) => group)
}

/** Returns the lines to show. A folded group has only its heading. */
export function linesOf(
  groups: readonly ListGroup[],
  by: ListGrouping,
  isFolded: (key: string) => boolean,
): ListLine[] {
  return groups.flatMap((group): ListLine[] => {
    const rows = group.tasks.map((task): ListLine => ({ kind: 'task', task }))
    if (by === 'none') return rows
    const folded = isFolded(group.key)
    return [{ kind: 'head', group, folded }, ...(folded ? [] : rows)]
  })
}
