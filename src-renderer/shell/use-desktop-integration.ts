import { onMounted, shallowRef, watch } from 'vue'
import type { DesktopRequest } from '../../src-shared/contract/desktop.ts'
import { useAppearance } from '../stores/device/appearance.ts'
import { useCommands } from '../stores/commands.ts'
import { useDesktop } from '../stores/device/desktop.ts'
import { useNavigation } from '../stores/base/navigation.ts'
import { useProjects } from '../stores/project/projects.ts'
import { useShortcuts } from '../stores/device/shortcuts.ts'
import { useTasks } from '../stores/tasks/tasks.ts'
import { useToasts } from '../stores/base/toasts.ts'

/**
 * Handles requests from menu, tray, links and drops, sends theme and keys to the desktop app, and
 * announces updates.
 */
export function useDesktopIntegration(): void {
  const desktop = useDesktop()
  const navigation = useNavigation()
  const tasks = useTasks()
  const toasts = useToasts()
  const perform = usePerformer()
  if (!desktop.present) return

  async function openTask(taskId: string): Promise<void> {
    try {
      const task = tasks.byId.get(taskId) ?? (await tasks.fetch(taskId))
      navigation.go({ screen: 'board', projectId: task.project_id, taskId, tab: null })
    } catch (error) {
      toasts.refused(error, 'Couldn’t open the link.')
    }
  }
  function answer(request: DesktopRequest): void {
    if (request.kind === 'command') perform(request.id)
    if (request.kind === 'open_task') void openTask(request.task_id)
    if (request.kind === 'refused') toasts.warn(request.message)
    if (request.kind === 'add_folder') {
      desktop.folder = request.path
      navigation.go({ screen: 'add_project' })
    }
    if (request.kind !== 'open_screen') return
    if (request.screen === 'add') return navigation.go({ screen: 'add_project' })
    navigation.go({ screen: 'settings', section: 'desktop' })
    void desktop.update('check')
  }
  onMounted(() => desktop.listen(answer))
  useDesktopPreferences()
  useAnnouncedUpdates()
}

/** Keeps the desktop app's menu keys and title bar in step with the page. */
function useDesktopPreferences(): void {
  const appearance = useAppearance()
  const desktop = useDesktop()
  const shortcuts = useShortcuts()
  watch(
    [() => appearance.theme, () => shortcuts.all],
    ([theme, all]) => {
      const commands = all.map(({ id, label, keys }) => ({ id, label, keys: keys[0] ?? null }))
      desktop.setPreferences({ theme, commands })
    },
    { immediate: true },
  )
}

function useAnnouncedUpdates(): void {
  const desktop = useDesktop()
  const navigation = useNavigation()
  const toasts = useToasts()
  const look = { label: 'Look', run: () => navigation.go({ screen: 'settings', section: 'desktop' }) }
  watch(
    () => desktop.state?.update,
    (update, before) => {
      if (update?.kind === before?.kind) return
      if (update?.kind === 'available') toasts.done(`Copse ${update.version} is out.`, look)
      if (update?.kind === 'ready') toasts.done(`Copse ${update.version} can be installed.`, look)
    },
  )
}

/**
 * Returns a function that performs a command as its key would. A new task is made on the board of
 * any screen that has one.
 */
function usePerformer(): (id: string) => void {
  const commands = useCommands()
  const navigation = useNavigation()
  const projects = useProjects()
  const shortcuts = useShortcuts()
  const toasts = useToasts()
  const wanted = shallowRef<string | null>(null)
  const found = () => commands.available.find(({ id }) => id === wanted.value)

  watch([wanted, found, () => projects.loaded], () => {
    const command = found()
    if (command !== undefined) {
      wanted.value = null
      commands.perform(command.handler)
    } else if (wanted.value === 'new') {
      if (!projects.loaded) return
      if (projects.current) return navigation.openProject(projects.current.id)
      wanted.value = null
      navigation.go({ screen: 'add_project' })
    } else if (wanted.value !== null) {
      const { label } = shortcuts.all.find(({ id }) => id === wanted.value) ?? { label: 'This' }
      wanted.value = null
      toasts.warn(`${label} needs a task. Select one on the board first.`)
    }
  })
  return (id) => (wanted.value = id)
}
