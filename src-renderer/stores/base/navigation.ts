import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { formatRoute, parseRoute, type Route } from '../../model/route.ts'
import { createPageHistory } from './page-history.ts'

/** The current route, kept in `location.hash`. */
export const useNavigation = defineStore('navigation', () => {
  const route = shallowRef<Route>(parseRoute(window.location.hash))
  /** The ID of the last visited project: screens without a project lead back to it. */
  const lastProjectId = shallowRef<string | null>('projectId' in route.value ? route.value.projectId : null)

  function arrive(next: Route): void {
    route.value = next
    if ('projectId' in next) lastProjectId.value = next.projectId
  }
  function go(next: Route): void {
    history.push(formatRoute(next))
    arrive(next)
  }
  /** Goes there, or only changes the tab of the open task: Back closes the task, whatever was read in it. */
  function goToTask(next: Extract<Route, { taskId: string | null }>): void {
    const { value: now } = route
    if ('taskId' in now && now.screen === next.screen && now.taskId === next.taskId) replace(next)
    else go(next)
  }
  /** Changes the address without a history entry, so Back doesn't lead through the old one. */
  function replace(next: Route): void {
    history.replace(formatRoute(next))
    arrive(next)
  }
  const history = createPageHistory(() => {
    const next = parseRoute(window.location.hash)
    // The entry of a closed dialog shows the same screen.
    if (formatRoute(next) !== formatRoute(route.value)) arrive(next)
  })

  return {
    route: computed(() => route.value),
    projectId: computed(() => lastProjectId.value),
    taskId: computed(() => ('taskId' in route.value ? route.value.taskId : null)),
    tab: computed(() => ('tab' in route.value ? route.value.tab : null)),
    go,
    replace,
    openLayer: history.openLayer,
    openProject: (projectId: string) => go({ screen: 'board', projectId, taskId: null, tab: null }),
    /** Opens the settings of the last visited project. */
    openProjectSettings(section: string): void {
      if (lastProjectId.value !== null) go({ screen: 'project_settings', projectId: lastProjectId.value, section })
    },
    /** Opens the task beside the current board, else beside that of the last visited project. */
    openTask(taskId: string, tab?: string): void {
      if (route.value.screen === 'all') return goToTask({ screen: 'all', taskId, tab: tab ?? null })
      if (lastProjectId.value === null) return
      goToTask({ screen: 'board', projectId: lastProjectId.value, taskId, tab: tab ?? null })
    },
    closeTask(): void {
      if (route.value.screen === 'all') return go({ screen: 'all', taskId: null, tab: null })
      if (lastProjectId.value !== null) go({ screen: 'board', projectId: lastProjectId.value, taskId: null, tab: null })
    },
  }
})
