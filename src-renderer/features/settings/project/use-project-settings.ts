import { computed } from 'vue'
import type { OperationInput } from '../../../../src-shared/contract/operations.ts'
import type { ProjectSettings } from '../../../../src-shared/contract/projects.ts'
import { useAction } from '../../../stores/base/query.ts'
import { useProjects } from '../../../stores/project/projects.ts'
import { useToasts } from '../../../stores/base/toasts.ts'
import { errorSentence } from '../../../formatters/error-sentence.ts'

/** Returns the settings of a project and a function that saves a change. */
export function useProjectSettings(projectId: () => string) {
  const projects = useProjects()
  const toasts = useToasts()
  const { busy, failure, run } = useAction()
  const settings = computed(() => projects.settings(projectId()))

  async function saveNow(input: OperationInput<'projects.update_settings'>): Promise<boolean> {
    const isSaved = await run(() => projects.updateSettings(input))
    if (isSaved) toasts.done('Saved')
    return isSaved
  }
  let last: Promise<unknown> = Promise.resolve()
  /** Saves changes in sequence. */
  function save(change: Partial<ProjectSettings>): Promise<boolean> {
    const input = { ...change, project_id: projectId() }
    const mine = last.then(() => saveNow(input))
    last = mine
    return mine
  }
  if (!settings.value)
    projects.loadSettings(projectId()).catch((error: unknown) => (failure.value = errorSentence(error)))
  return { settings, busy, failure, save }
}
