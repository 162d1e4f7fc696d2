import { shallowRef } from 'vue'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { Project, ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { createAnswers } from './answers.ts'
import { createRecords } from './records.ts'

/** What is known of the projects, and how it is read from the service. */
export function createProjectState(client: Client) {
  const workflows = createAnswers<WorkflowDefinition>()
  const settings = createAnswers<ProjectSettings>()
  const failure = shallowRef<unknown>(null)
  const { replace, ...records } = createRecords<Project>({
    changed: (project, before) => {
      if (before && before.workflow_definition !== project.workflow_definition)
        loadWorkflow(project.id).catch((error: unknown) => (failure.value = error))
    },
    gone: (projectId) => {
      workflows.remove(projectId)
      settings.remove(projectId)
    },
  })
  const loadWorkflow = (projectId: string): Promise<void> =>
    workflows.take(projectId, () => client.call('projects.get_workflow', { project_id: projectId }))
  const loadSettings = (projectId: string): Promise<void> =>
    settings.take(projectId, () => client.call('projects.get_settings', { project_id: projectId }))
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
