import type { Task } from '../../src-shared/contract/tasks.ts'

/** The kinds of filters, in the order of the menu. A task must match one value of each kind in use. */
export const filterKinds = [
  'needs_you',
  'project',
  'state',
  'assignee',
  'label',
  'priority',
  'mark',
  'updated',
] as const
export type FilterKind = (typeof filterKinds)[number]
export type BoardFilter = Readonly<Partial<Record<FilterKind, readonly string[]>>>

const taskMarks = ['running', 'blocked', 'held', 'external', 'subtask'] as const
export type TaskMark = (typeof taskMarks)[number]

/** Facts about a task that a filter needs and the task itself doesn't contain. */
export interface TaskFacts {
  readonly needsYou: boolean
  readonly running: boolean
  /** Whether the task is in a state for blocked tasks, or waits for another task. */
  readonly blocked: boolean
}

/** The value of `assignee` for unassigned tasks. */
export const nobody = 'nobody'

const marks: Readonly<Record<TaskMark, (task: Task, facts: TaskFacts) => boolean>> = {
  running: (_, facts) => facts.running,
  blocked: (_, facts) => facts.blocked,
  held: (task) => task.error_annotation !== null || task.entry_barrier,
  external: (task) => task.external_issue_number !== null,
  subtask: (task) => task.parent_id !== null,
}
const tests: Readonly<Record<FilterKind, (task: Task, value: string, facts: () => TaskFacts, now: number) => boolean>> =
  {
    needs_you: (_, __, facts) => facts().needsYou,
    project: (task, value) => task.project_id === value,
    state: (task, value) => task.status === value,
    assignee: (task, value) => {
      const holders = Object.values(task.roles)
      return value === nobody ? holders.length === 0 : holders.some((holder) => holder.id === value)
    },
    label: (task, value) => task.labels.includes(value),
    priority: (task, value) => String(task.priority) === value,
    mark: (task, value, facts) => taskMarks.some((mark) => mark === value && marks[mark](task, facts())),
    updated: (task, value, _, now) => now - Date.parse(task.updated_at) <= Number(value) * 86_400_000,
  }

/** Returns whether the task matches the filter. `facts` is called only if a filter needs it. */
export function fits(task: Task, filter: BoardFilter, facts: (task: Task) => TaskFacts, now: number): boolean {
  return filterKinds.every((kind) => {
    const wanted = filter[kind] ?? []
    return wanted.length === 0 || wanted.some((value) => tests[kind](task, value, () => facts(task), now))
  })
}

/** Returns the filter with the value turned on or off. `updated` has one value at most. */
export function toggled(filter: BoardFilter, kind: FilterKind, value: string): BoardFilter {
  const known = filter[kind] ?? []
  if (known.includes(value)) return { ...filter, [kind]: known.filter((other) => other !== value) }
  return { ...filter, [kind]: kind === 'updated' ? [value] : [...known, value] }
}

export const isEmpty = (filter: BoardFilter): boolean => filterKinds.every((kind) => (filter[kind] ?? []).length === 0)

/** Reads a stored filter. Ignores values of another shape. */
export function parseFilter(kept: unknown): BoardFilter {
  if (typeof kept !== 'object' || kept === null) return {}
  const values = new Map(Object.entries(kept))
  return Object.fromEntries(
    filterKinds.flatMap((kind) => {
      const value: unknown = values.get(kind)
      return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [[kind, value]] : []
    }),
  )
}
