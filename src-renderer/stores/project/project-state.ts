import { shallowRef } from 'vue'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { Project, ProjectSettings } from '../../../src-shared/contract/projects.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { createEntityStore, createKeyedStore } from '../base/entity-store.ts'

/** Creates the state of the projects, their workflows and settings, and its loading. */
export function createProjectState(client: Client, onKeyChanged: (projectId: string, key: string) => void) {
  const workflows = createKeyedStore<WorkflowDefinition>()
  const settings = createKeyedStore<ProjectSettings>()
  const failure = shallowRef<unknown>(null)
  const { replace, ...records } = createEntityStore<Project>({
    onChanged: (project, before) => {
      if (!before) return
      if (before.key !== project.key) onKeyChanged(project.id, project.key)
      if (before.workflow_definition !== project.workflow_definition) reloadOnChange(loadWorkflow(project.id))
      // No event announces changed settings, so they are reloaded whenever their project changes.
      if (before.updated_at !== project.updated_at && settings.byKey.has(project.id))
        reloadOnChange(loadSettings(project.id))
    },
    onRemoved: (projectId) => {
      workflows.remove(projectId)
      settings.remove(projectId)
    },
  })
  const loadWorkflow = async (projectId: string): Promise<void> =>
    void (await workflows.take(projectId, () => client.call('projects.get_workflow', { project_id: projectId })))
  const loadSettings = async (projectId: string): Promise<void> =>
    void (await settings.take(projectId, () => client.call('projects.get_settings', { project_id: projectId })))
  const reloadOnChange = (reading: Promise<void>) => void reading.catch((error: unknown) => (failure.value = error))
  async function load(): Promise<void> {
    failure.value = null
    try {
      await replace(() => client.call('projects.list', {}))
    } catch (error) {
      failure.value = error
    }
  }
  return { ...records, workflows, settings, failure, load, loadWorkflow, loadSettings }
}
