import { Bookmark } from '@lucide/vue'
import { computed, type Component } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { GlyphName } from '../../components/state-glyphs.ts'
import type { CommandId } from '../../model/command-list.ts'
import { parseRoute } from '../../model/route.ts'
import { stateFace } from '../../model/workflow-shape.ts'
import { useBoardViews } from '../../stores/tasks/board-views.ts'
import { useCommands } from '../../stores/commands.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useShortcuts } from '../../stores/device/shortcuts.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import { commandIcons } from './command-icons.ts'
import type { PaletteItem } from './find-items.ts'
import { synonyms } from './synonyms.ts'

export interface RunnableItem extends PaletteItem {
  readonly glyph?: GlyphName
  readonly icon?: Component | undefined
  readonly run: (options: { readonly full: boolean }) => void
}

/** A page that the palette can open. */
export interface PalettePage {
  readonly id: string
  readonly href: string
  readonly label: string
}

/** Navigation commands and the palette's own are not listed. */
const notListed: readonly CommandId[] = ['palette', 'back', 'left', 'right', 'up', 'down', 'menu']

/** Whether a command only extends the selection, which keys do better than a list. */
const isSelecting = (id: CommandId): boolean => id.startsWith('select')

/** Returns all items: loaded tasks, available actions, projects and settings pages. */
export function usePaletteItems(pages: readonly PalettePage[], openTask: (task: Task, full: boolean) => void) {
  const commands = useCommands()
  const navigation = useNavigation()
  const views = useBoardViews()
  const projects = useProjects()
  const shortcuts = useShortcuts()
  const tasks = useTasks()

  /** Returns the rank of a task: the open one first, then its project's, then all others. */
  const farness = (task: Task): number => {
    if (task.id === navigation.taskId) return 0
    return task.project_id === projects.current?.id ? 1 : 2
  }
  const ofTasks = computed(() =>
    [...tasks.byId.values()]
      .filter((task) => !task.archived)
      .sort((one, other) => farness(one) - farness(other) || (one.updated_at < other.updated_at ? 1 : -1))
      .map((task): RunnableItem => {
        return {
          id: task.id,
          kind: 'task',
          group: 'Tasks',
          text: task.title,
          ref: task.ref,
          words: task.labels.join(' '),
          note: projects.byId.get(task.project_id)?.name,
          glyph: stateFace(projects.workflow(task.project_id), task.status).glyph,
          run: ({ full }) => openTask(task, full),
        }
      }),
  )
  const ofCommands = computed(() =>
    commands.available
      .filter(({ id }) => !notListed.includes(id))
      .map((command) => ({ ...command, on: command.handler.on?.() ?? null }))
      .sort(
        (one, other) =>
          Number(one.on === null) - Number(other.on === null) ||
          Number(isSelecting(one.id)) - Number(isSelecting(other.id)),
      )
      .map(({ id, group, label, handler, on }): RunnableItem => {
        const text = on === null ? (group === 'Go to' ? `Go to ${label.toLowerCase()}` : label) : `${label}, ${on}`
        return {
          id,
          kind: 'action',
          icon: commandIcons[id],
          group: on === null ? 'Actions' : `Actions on ${on}`,
          text,
          words: synonyms[id] ?? '',
          binding: shortcuts.keysOf(id)[0],
          refused: handler.refused?.() ?? null,
          run: () => handler.run(),
        }
      }),
  )
  const ofProjects = computed(() =>
    projects.items.map((project): RunnableItem => ({
      id: project.id,
      kind: 'project',
      group: 'Projects',
      text: project.name,
      words: project.repos.map(({ path }) => path).join(' '),
      run: () => navigation.openProject(project.id),
    })),
  )
  /** The saved views of the shown board or the current project. */
  const ofViews = computed(() => {
    const isAll = navigation.route.screen === 'all'
    const scope = isAll ? 'all' : projects.current?.id
    return (scope === undefined ? [] : views.savedOf(scope)).map(({ name }): RunnableItem => ({
      id: `view ${name}`,
      kind: 'action',
      icon: Bookmark,
      group: 'Views',
      text: name,
      words: 'view saved',
      run: () => {
        if (scope === undefined) return
        views.open(scope, name)
        if (!isAll && projects.current) navigation.openProject(projects.current.id)
      },
    }))
  })
  const ofSettings = pages.map(({ id, href, label }): RunnableItem => ({
    id,
    kind: 'setting',
    group: 'Settings',
    text: label,
    words: synonyms[id] ?? '',
    note: 'Settings',
    run: () => navigation.go(parseRoute(href)),
  }))
  return computed((): readonly RunnableItem[] => [
    ...ofTasks.value,
    ...ofCommands.value,
    ...ofViews.value,
    ...ofProjects.value,
    ...ofSettings,
  ])
}
