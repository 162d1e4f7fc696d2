import { computed, shallowRef, watch, type ComputedRef } from 'vue'
import type { Project } from '../../src-shared/contract/projects.ts'
import { useNavigation } from '../stores/base/navigation.ts'
import { useProjects } from '../stores/project/projects.ts'

const projectScreens: readonly string[] = ['home', 'board', 'workflow', 'project_settings']

/**
 * Returns the project in the address, and whether that names one that isn't there. Home, and a project that was deleted
 * while it was open, lead to another.
 */
export function useOpenProject(): {
  readonly project: ComputedRef<Project | null>
  readonly isUnknown: ComputedRef<boolean>
} {
  const navigation = useNavigation()
  const projects = useProjects()
  const lastOpened = shallowRef<string | null>(null)
  const project = computed(() => {
    const { route } = navigation
    return 'projectId' in route ? (projects.byId.get(route.projectId) ?? null) : null
  })
  const isUnknown = computed(() => {
    const { route } = navigation
    if (!('projectId' in route) || !projects.loaded || projects.items.length === 0) return false
    return project.value === null && route.projectId !== lastOpened.value
  })
  watch(
    project,
    (now) => {
      if (now) lastOpened.value = now.id
    },
    { immediate: true },
  )
  watch(
    [() => projects.loaded, () => projects.items, () => navigation.route],
    () => {
      const { screen } = navigation.route
      if (!projects.loaded || project.value !== null || isUnknown.value || !projectScreens.includes(screen)) return
      if (projects.current) navigation.openProject(projects.current.id)
    },
    { immediate: true },
  )
  return { project, isUnknown }
}
