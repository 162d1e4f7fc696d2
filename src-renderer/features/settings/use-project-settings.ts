import { computed, ref } from 'vue'
import type { ProjectSettings } from '../../../src-shared/contract/projects.ts'
import { useProjects } from '../../stores/projects.ts'
import { useToasts } from '../../stores/toasts.ts'
import { errorSentence } from '../../words/error-sentence.ts'

/** A project's settings and how a change of them is saved. */
export function useProjectSettings(projectId: () => string) {
  const projects = useProjects()
  const toasts = useToasts()
  const busy = ref(false)
  const failure = ref<string | null>(null)
  const settings = computed(() => projects.settings(projectId()))

  async function save(change: Partial<ProjectSettings>): Promise<boolean> {
    busy.value = true
    failure.value = null
    try {
      await projects.updateSettings({ ...change, project_id: projectId() })
      toasts.done('Saved')
      return true
    } catch (error) {
      failure.value = errorSentence(error)
      return false
    } finally {
      busy.value = false
    }
  }
  if (!settings.value)
    projects.loadSettings(projectId()).catch((error: unknown) => (failure.value = errorSentence(error)))
  return { settings, busy, failure, save }
}
