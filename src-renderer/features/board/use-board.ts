import { computed, ref, shallowRef } from 'vue'
import { useAppearance } from '../../stores/appearance.ts'
import { useNavigation } from '../../stores/navigation.ts'
import { useProjects } from '../../stores/projects.ts'
import { useTasks } from '../../stores/tasks.ts'
import { columnsOf } from '../../stores/workflow-shape.ts'
import { groupTasks, matches, type BoardColumnModel } from './group-tasks.ts'

/** The columns of a project as they are shown, and which card the keys act on. */
export function useBoard(projectId: () => string) {
  const appearance = useAppearance()
  const navigation = useNavigation()
  const projects = useProjects()
  const tasks = useTasks()
  const query = ref('')
  const wanted = shallowRef<string | null>(null)

  const all = computed(() => tasks.byProject(projectId()))
  const columns = computed(() => {
    const workflow = projects.workflow(projectId())
    if (!workflow) return []
    return groupTasks(
      columnsOf(workflow),
      all.value.filter((task) => matches(task, query.value)),
    )
  })
  /** The card that Tab reaches: the last focused one while it is shown, else the open one, else the first. */
  const focusedId = computed(() => {
    const shown = columns.value.filter((column) => !isShut(column)).flatMap((column) => column.tasks)
    const ids = new Set<string>(shown.map((task) => task.id))
    if (wanted.value !== null && ids.has(wanted.value)) return wanted.value
    if (navigation.taskId !== null && ids.has(navigation.taskId)) return navigation.taskId
    return shown[0]?.id ?? null
  })

  const key = (column: BoardColumnModel) => `${projectId()}/${column.name}`
  /** An empty backlog stands aside by itself until somebody opens it. */
  const standsAside = (column: BoardColumnModel) =>
    column.tasks.length === 0 && column.states.every((state) => state.kind === 'backlog')
  function isShut(column: BoardColumnModel): boolean {
    return appearance.isCollapsed(key(column)) || (standsAside(column) && !appearance.isCollapsed(`+${key(column)}`))
  }
  return {
    query,
    columns,
    focusedId,
    focus: (taskId: string) => void (wanted.value = taskId),
    clearSearch: () => void (query.value = ''),
    /** Tasks before the search. */
    total: computed(() => all.value.length),
    isShut,
    toggle(column: BoardColumnModel): void {
      const collapsed = appearance.isCollapsed(key(column))
      appearance.toggleColumn(!collapsed && standsAside(column) ? `+${key(column)}` : key(column))
    },
    taskOf: (taskId: string | null) => (taskId === null ? undefined : tasks.byId.get(taskId)),
  }
}

export type Board = ReturnType<typeof useBoard>
