import type { Task } from '../../src-shared/contract/tasks.ts'

/** What tasks are filtered by, in the order in which it is offered. Of one kind any value will do, of all kinds each. */
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

/** What a filter asks of a task that the task does not say itself. */
export interface TaskFacts {
  readonly needsYou: boolean
  readonly running: boolean
  /** It waits in a state for blocked tasks, or for another task. */
  readonly blocked: boolean
}

/** The value of `assignee` for tasks that nobody has. */
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

/** Whether the filter lets the task through. `facts` are asked for only where they are needed. */
export function fits(task: Task, filter: BoardFilter, facts: (task: Task) => TaskFacts, now: number): boolean {
  return filterKinds.every((kind) => {
    const wanted = filter[kind] ?? []
    return wanted.length === 0 || wanted.some((value) => tests[kind](task, value, () => facts(task), now))
  })
}

/** The filter with the value turned on or off; of `updated` one is enough. */
export function toggled(filter: BoardFilter, kind: FilterKind, value: string): BoardFilter {
  const known = filter[kind] ?? []
  if (known.includes(value)) return { ...filter, [kind]: known.filter((other) => other !== value) }
  return { ...filter, [kind]: kind === 'updated' ? [value] : [...known, value] }
}

export const isEmpty = (filter: BoardFilter): boolean => filterKinds.every((kind) => (filter[kind] ?? []).length === 0)

/** What was kept, as far as it is a filter. */
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
