import { useMediaQuery } from '@vueuse/core'
import { computed, type ComputedRef } from 'vue'
import type { Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { fits, isEmpty, type BoardFilter } from '../../model/board-filter.ts'
import { boardColumns, type BoardColumnShape } from '../../model/workflow-shape.ts'
import { useAppearance } from '../../stores/device/appearance.ts'
import {
  useBoardViews,
  type BoardView,
  type CardOrder,
  type ListGrouping,
  type SortColumn,
} from '../../stores/tasks/board-views.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { usePeople } from '../../stores/people/people.ts'
import { useProjects } from '../../stores/project/projects.ts'
import type { LoadState } from '../../stores/tasks/task-state.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { groupTasks, matcher, type BoardColumnModel, type UnloadedTasks } from './group-tasks.ts'
import { groupRows, linesOf, type ListLine } from './list-groups.ts'
import { nextSort, sortTasks, type SortFacts } from './sort-tasks.ts'
import { useTaskFacts } from './cards/use-task-facts.ts'

/** The tasks of a project or of all projects, as the board shows them. */
export interface Board {
  /** The ID of the project, or `all`. */
  readonly scope: ComputedRef<string>
  readonly view: ComputedRef<BoardView>
  readonly query: ComputedRef<string>
  readonly search: (query: string) => void
  /** The columns without their tasks. */
  readonly shapes: ComputedRef<readonly BoardColumnShape[]>
  readonly columns: ComputedRef<readonly BoardColumnModel[]>
  /** The tasks of the list in sort order; empty in the column layout. */
  readonly rows: ComputedRef<readonly Task[]>
  /** `rows` with the headings of groups. */
  readonly lines: ComputedRef<readonly ListLine[]>
  readonly grouping: ComputedRef<ListGrouping>
  /** Opens the saved view of this name. */
  readonly open: (name: string) => void
  readonly groupBy: (group: ListGrouping) => void
  /** Folds or unfolds a group of the list. */
  readonly fold: (key: string) => void
  /** The columns that arrow keys move between; a list is one column. */
  readonly lanes: ComputedRef<readonly { readonly cards: readonly Task[] }[]>
  readonly facts: ReturnType<typeof useTaskFacts>
  /** All loaded tasks. */
  readonly all: ComputedRef<readonly Task[]>
  /** The tasks that match search and filters. */
  readonly found: ComputedRef<readonly Task[]>
  /** The tasks that aren't loaded yet. */
  readonly coming: ComputedRef<readonly UnloadedTasks[]>
  readonly focusedId: ComputedRef<string | null>
  /** The number of tasks that need the user. */
  readonly needYou: ComputedRef<number>
  /** Whether a search or filter is active. */
  readonly isNarrowed: ComputedRef<boolean>
  readonly isShut: (column: BoardColumnModel) => boolean
  /** Folds or unfolds a column. */
  readonly toggle: (column: BoardColumnModel) => void
  readonly focus: (taskId: string) => void
  /** Changes the layout. */
  readonly show: (layout: BoardView['layout']) => void
  readonly orderBy: (order: CardOrder) => void
  /** The reason why cards can't be ordered by hand; null if they can. */
  readonly orderRefused: ComputedRef<string | null>
  readonly filter: (filter: BoardFilter) => void
  readonly sortBy: (column: SortColumn) => void
  /** Clears the search and all filters. */
  readonly clear: () => void
  /** Lists all finished tasks of a column, newest first. */
  readonly listEnded: (column: BoardColumnModel) => void
  readonly taskOf: (taskId: string | null) => Task | undefined
}

/** Returns the board of a project, or of all projects if null. */
export function useBoard(project: () => Project | null): Board {
  const projects = useProjects()
  const tasks = useTasks()
  const views = useBoardViews()
  const facts = useTaskFacts()
  const scope = computed(() => project()?.id ?? 'all')
  const view = computed(() => views.of(scope.value))
  const query = computed(() => views.query(scope.value))
  const search = (next: string) => views.search(scope.value, next)

  const all = computed(() => {
    const one = project()
    return one ? tasks.byProject(one.id) : tasks.everywhere()
  })
  const found = computed(() => {
    const matches = matcher(query.value)
    const now = Date.now()
    return all.value.filter((task) => matches(task) && fits(task, view.value.filter, facts.factsOf, now))
  })
  const shapes = computed(() => boardColumns(workflowsOf(project(), projects)))
  const coming = computed(() => comingTasks(project()?.id ?? null, tasks.loads))
  const columns = computed(() => groupTasks(shapes.value, found.value, coming.value, view.value.order))
  const sortFacts = useSortFacts(facts, () => shapes.value.flatMap(({ states }) => states.map(({ name }) => name)))
  const rows = computed(() => (isList() ? sortTasks(found.value, view.value.sort, sortFacts.value) : []))
  const grouping = computed((): ListGrouping => view.value.group ?? (project() === null ? 'project' : 'state'))
  const lines = computed(() => {
    const { state: rank } = sortFacts.value
    const projectName = (task: Task) => projects.byId.get(task.project_id)?.name ?? ''
    const groups = groupRows(rows.value, grouping.value, { stateOfTask: facts.stateOfTask, projectName, rank })
    return linesOf(groups, grouping.value, (key) => view.value.folded.includes(key))
  })
  const collapsing = useCollapsing(() => scope.value, all, coming)
  const isList = () => view.value.layout === 'list'
  const change = (patch: Partial<BoardView>) => views.change(scope.value, patch)

  const lanes = computed((): readonly { readonly cards: readonly Task[] }[] =>
    isList()
      ? [{ cards: lines.value.flatMap((line) => (line.kind === 'task' ? [line.task] : [])) }]
      : columns.value.filter((column) => !collapsing.isShut(column)),
  )
  return {
    scope,
    view,
    query,
    search,
    shapes,
    columns,
    rows,
    lines,
    grouping,
    open: (name: string) => views.open(scope.value, name),
    groupBy: (group: ListGrouping) => change({ group, folded: [] }),
    fold(key: string): void {
      const { folded } = view.value
      change({ folded: folded.includes(key) ? folded.filter((one) => one !== key) : [...folded, key] })
    },
    lanes,
    facts,
    all,
    found,
    coming,
    focusedId: useFocused(() => scope.value, lanes),
    needYou: computed(() => all.value.filter((task) => facts.factsOf(task).needsYou).length),
    isNarrowed: computed(() => query.value !== '' || !isEmpty(view.value.filter)),
    ...collapsing,
    focus: (taskId: string) => views.focus(scope.value, taskId),
    show: (layout: BoardView['layout']) => change({ layout }),
    orderBy: (order: CardOrder) => change({ order }),
    orderRefused: computed((): string | null => {
      if (project() === null) return 'Cards of several projects have no order of their own'
      return view.value.order === 'manual' ? null : 'Order the board by hand first'
    }),
    filter: (filter: BoardFilter) => change({ filter }),
    sortBy: (column: SortColumn) => change({ sort: nextSort(view.value.sort, column) }),
    clear(): void {
      search('')
      change({ filter: {} })
    },
    listEnded(column: BoardColumnModel): void {
      change({
        layout: 'list',
        filter: { state: [...new Set(column.states.map(({ name }) => name))] },
        sort: { column: 'updated', descending: true },
      })
    },
    taskOf: (taskId: string | null) => (taskId === null ? undefined : tasks.byId.get(taskId)),
  }
}

/** Returns the number of unloaded tasks by project and state, of one project or of all if null. */
function comingTasks(one: string | null, loads: ReadonlyMap<string, LoadState>): readonly UnloadedTasks[] {
  return [...loads].flatMap(([projectId, load]) => {
    if (load.kind !== 'begun' || (one !== null && one !== projectId)) return []
    return [...load.rest].map(([status, count]) => ({ projectId, status, count }))
  })
}

function workflowsOf(one: Project | null, projects: ReturnType<typeof useProjects>) {
  const known = new Map<string, WorkflowDefinition>()
  for (const { id } of one ? [one] : projects.items) {
    const workflow = projects.workflow(id)
    if (workflow) known.set(id, workflow)
  }
  return known
}

/**
 * Returns the card in the tab order: the last focused card if shown, else the open task, else the
 * first.
 */
function useFocused(scope: () => string, lanes: { readonly value: readonly { readonly cards: readonly Task[] }[] }) {
  const navigation = useNavigation()
  const views = useBoardViews()
  return computed(() => {
    const wanted = [views.focusedOf(scope()), navigation.taskId].filter((id) => id !== null)
    const isShown = (id: string) => lanes.value.some(({ cards }) => cards.some((task) => task.id === id))
    return wanted.find(isShown) ?? lanes.value.find(({ cards }) => cards.length > 0)?.cards[0]?.id ?? null
  })
}

function useSortFacts(facts: ReturnType<typeof useTaskFacts>, stateNames: () => readonly string[]) {
  const people = usePeople()
  const projects = useProjects()
  return computed((): SortFacts => {
    const ranks = new Map(stateNames().map((name, index) => [name, index]))
    return {
      state: (task) => ranks.get(task.status) ?? -1,
      project: (task) => projects.byId.get(task.project_id)?.name ?? '',
      who: (task) => people.faces(task.roles)[0]?.name ?? '',
      now: (task) => {
        const { running, needsYou, blocked } = facts.factsOf(task)
        return running ? 0 : needsYou ? 1 : task.active_execution_id !== null ? 2 : blocked ? 3 : 4
      },
    }
  })
}

function useCollapsing(
  scope: () => string,
  all: ComputedRef<readonly Task[]>,
  coming: ComputedRef<readonly UnloadedTasks[]>,
) {
  const appearance = useAppearance()
  const wide = useMediaQuery('(min-width: 1900px)')
  const key = (column: BoardColumnModel) => `${scope()}/${column.name}`
  const inUse = computed(
    () =>
      new Set([
        ...all.value.map(({ project_id, status }) => `${project_id}/${status}`),
        ...coming.value.map(({ projectId, status }) => `${projectId}/${status}`),
      ]),
  )
  /**
   * Returns whether a column folds without a user's choice: it has no tasks, isn't the initial
   * state, the board isn't empty, and the window isn't wide enough for all. Tasks hidden by search or filter count.
   */
  const isCollapsedByDefault = (column: BoardColumnModel) =>
    !wide.value &&
    inUse.value.size > 0 &&
    column.tasks.length === 0 &&
    column.states.every(({ kind }) => kind !== 'initial') &&
    ![...column.statesIn].some(([projectId, states]) =>
      states.some(({ name }) => inUse.value.has(`${projectId}/${name}`)),
    )
  return {
    isShut: (column: BoardColumnModel): boolean =>
      appearance.isCollapsed(key(column)) ||
      (isCollapsedByDefault(column) && !appearance.isCollapsed(`+${key(column)}`)),
    toggle(column: BoardColumnModel): void {
      const collapsed = appearance.isCollapsed(key(column))
      appearance.toggleColumn(!collapsed && isCollapsedByDefault(column) ? `+${key(column)}` : key(column))
    },
  }
}
