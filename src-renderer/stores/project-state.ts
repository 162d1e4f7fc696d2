import { shallowReactive, shallowRef } from 'vue'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { Project, ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

/** What is known of the projects, and how it is read from the service. */
export function createProjectState(client: Client) {
  const byId = shallowReactive(new Map<string, Project>())
  const workflows = shallowReactive(new Map<string, WorkflowDefinition>())
  const allSettings = shallowReactive(new Map<string, ProjectSettings>())
  const loaded = shallowRef(false)
  const failure = shallowRef<unknown>(null)

  async function loadWorkflow(projectId: string): Promise<void> {
    workflows.set(projectId, await client.call('projects.get_workflow', { project_id: projectId }))
  }
  async function loadSettings(projectId: string): Promise<void> {
    allSettings.set(projectId, await client.call('projects.get_settings', { project_id: projectId }))
  }
  /** A changed definition makes the known workflow old: it is loaded anew. */
  function put(project: Project): void {
    const known = byId.get(project.id)
    byId.set(project.id, project)
    if (known && known.workflow_definition !== project.workflow_definition)
      loadWorkflow(project.id).catch((error: unknown) => (failure.value = error))
  }
  function remove(projectId: string): void {
    byId.delete(projectId)
    workflows.delete(projectId)
    allSettings.delete(projectId)
  }
  async function load(): Promise<void> {
    failure.value = null
    try {
      const listed = (await client.call('projects.list', {})).items
      const kept = new Set<string>(listed.map((project) => project.id))
      for (const id of byId.keys()) if (!kept.has(id)) remove(id)
      for (const project of listed) put(project)
      loaded.value = true
    } catch (error) {
      failure.value = error
    }
  }
  return { byId, workflows, allSettings, loaded, failure, put, remove, load, loadWorkflow, loadSettings }
}
