import { computed } from 'vue'
import type { Assignee } from '../../../src-shared/contract/tasks.ts'
import { nobody, type FilterKind, type TaskMark } from '../../model/board-filter.ts'
import { usePeople } from '../../stores/people/people.ts'
import { useProjects } from '../../stores/project/projects.ts'
import type { Board } from './use-board.ts'

/** A value to filter by. */
export interface FilterOption {
  readonly kind: FilterKind
  readonly value: string
  readonly label: string
}

/** The heading of each filter kind. */
export const kindLabels: Readonly<Record<FilterKind, string>> = {
  needs_you: 'Needs you',
  project: 'Project',
  state: 'State',
  assignee: 'Assignee',
  label: 'Label',
  priority: 'Priority',
  mark: 'Only',
  updated: 'Updated',
}
const markLabels: Readonly<Record<TaskMark, string>> = {
  running: 'Agent running',
  blocked: 'Blocked',
  held: 'Stuck on an error or a hook',
  external: 'Linked to an issue',
  subtask: 'Subtasks',
}
const times: readonly (readonly [string, string])[] = [
  ['1', 'last day'],
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
]
const priorities = ['None', 'Low', 'Medium', 'High', 'Urgent'] as const

/** Returns all filter options of the board's tasks in menu order. */
export function useFilterOptions(board: Board, every: () => boolean) {
  const people = usePeople()
  const projects = useProjects()

  const assignees = computed(() => {
    const known = new Map<string, Assignee>()
    for (const task of board.all.value) for (const one of Object.values(task.roles)) known.set(one.id, one)
    return known
  })
  const labels = computed(() => [...new Set(board.all.value.flatMap((task) => task.labels))].sort())
  const states = computed(
    () => new Map(board.shapes.value.flatMap(({ states: all }) => all.map((one) => [one.name, one.label]))),
  )

  const options = computed((): readonly FilterOption[] => {
    const of = (kind: FilterKind, values: Iterable<readonly [string, string]>): FilterOption[] =>
      [...values].map(([value, label]) => ({ kind, value, label }))
    const faces = [...assignees.value].map(([id, one]) => [id, people.face(one).name] as const)
    return [
      ...of('needs_you', [['yes', 'Needs you']]),
      ...(every()
        ? of(
            'project',
            projects.items.map(({ id, name }) => [id, name]),
          )
        : []),
      ...of('state', states.value),
      ...of('assignee', [...faces.sort((a, b) => a[1].localeCompare(b[1])), [nobody, 'Unassigned']]),
      ...of(
        'label',
        labels.value.map((label) => [label, label]),
      ),
      ...of('priority', priorities.map((name, index) => [String(index), name] as const).toReversed()),
      ...of('mark', Object.entries(markLabels)),
      ...of('updated', times),
    ]
  })
  return {
    options,
    /** Returns the label of a filter value; the value itself if no task has it anymore. */
    labelOf: (kind: FilterKind, value: string): string =>
      options.value.find((option) => option.kind === kind && option.value === value)?.label ?? value,
  }
}
