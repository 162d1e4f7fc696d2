import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { Project, ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { useClient } from './client.ts'
import { useNavigation } from './navigation.ts'
import { useTasks } from './tasks.ts'

/** Projects with their workflows and settings. */
export const useProjects = defineStore('projects', () => {
  const client = useClient()
  const navigation = useNavigation()
  const byId = shallowReactive(new Map<string, Project>())
  const workflows = shallowReactive(new Map<string, WorkflowDefinition>())
  const settings = shallowReactive(new Map<string, ProjectSettings>())
  const loaded = shallowRef(false)
  const failure = shallowRef<unknown>(null)

  const items = computed(() => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name)))
  /** The project that was last looked at, else the first. */
  const current = computed(() => byId.get(navigation.projectId ?? '') ?? items.value[0] ?? null)

  /** A changed definition makes the known workflow old: it is loaded anew. */
  function put(project: Project): void {
    const known = byId.get(project.id)
    byId.set(project.id, project)
    if (known && known.workflow_definition !== project.workflow_definition) void loadWorkflow(project.id)
  }
  function remove(projectId: string): void {
    byId.delete(projectId)
    workflows.delete(projectId)
    settings.delete(projectId)
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
  async function loadWorkflow(projectId: string): Promise<void> {
    workflows.set(projectId, await client.call('projects.get_workflow', { project_id: projectId }))
  }
  async function loadSettings(projectId: string): Promise<void> {
    settings.set(projectId, await client.call('projects.get_settings', { project_id: projectId }))
  }
  /** Everything that a project's board needs; a new project is prepared before it is opened. */
  async function prepare(projectId: string): Promise<void> {
    await Promise.all([loadWorkflow(projectId), loadSettings(projectId), useTasks().load(projectId)])
  }
  async function update(input: OperationInput<'projects.update'>): Promise<void> {
    put(await client.call('projects.update', input))
  }
  return {
    byId,
    items,
    current,
    loaded,
    failure,
    put,
    remove,
    load,
    loadWorkflow,
    loadSettings,
    prepare,
    update,
    /** The workflow in force; undefined until `loadWorkflow` has answered. */
    workflow: (projectId: string): WorkflowDefinition | undefined => workflows.get(projectId),
    settings: (projectId: string): ProjectSettings | undefined => settings.get(projectId),
    select: (projectId: string) => navigation.openProject(projectId),
    create: async (input: OperationInput<'projects.create'>): Promise<Project> => {
      const project = await client.call('projects.create', input)
      put(project)
      return project
    },
    createDemo: async () => {
      const demo = await client.call('demo.create', {})
      put(demo.project)
      return demo
    },
    inspectFolder: (path: string) => client.call('system.inspect_folder', { path }),
    setPaused: (projectId: string, paused: boolean) =>
      update({ project_id: projectId, paused_at: paused ? new Date().toISOString() : null }),
    updateSettings: async (input: OperationInput<'projects.update_settings'>): Promise<void> => {
      settings.set(input.project_id, await client.call('projects.update_settings', input))
    },
  }
})
