import { defineStore } from 'pinia'
import { computed } from 'vue'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Project, ProjectSettings, RepoState } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { projectLetters } from '../../formatters/initials.ts'
import { stateOf } from '../../model/workflow-shape.ts'
import { useClient } from '../base/client.ts'
import { useNavigation } from '../base/navigation.ts'
import { useDemo } from './demo.ts'
import { createProjectState } from './project-state.ts'
import { useRequests } from '../base/query.ts'
import { useTasks } from '../tasks/tasks.ts'

/** Projects with their workflows and settings. */
export const useProjects = defineStore('projects', () => {
  const client = useClient()
  const navigation = useNavigation()
  const { workflows, settings, take, ...state } = createProjectState(client, (id, key) => useTasks().rename(id, key))
  const items = computed(() => [...state.byId.values()].sort((a, b) => a.name.localeCompare(b.name)))

  const requests = useRequests()

  /** Returns the name of the branch that a task's work is merged into at last. */
  const landsOn = ({ project_id, repo_id }: Task): string =>
    state.byId.get(project_id)?.repos.find(({ id }) => id === repo_id)?.default_branch ?? 'the base branch'

  async function load(projectId: string): Promise<void> {
    await Promise.all([state.loadWorkflow(projectId), state.loadSettings(projectId), useTasks().load(projectId)])
  }
  async function update(input: OperationInput<'projects.update'>): Promise<void> {
    await take(() => client.call('projects.update', input))
  }
  return {
    ...state,
    items,
    /** The letters of each project's tile by its ID, distinct among all. */
    letters: computed(() => projectLetters(items.value)),
    update,
    /** The project of the task that is open beside all projects, else the last visited one, else the first. */
    current: computed(() => {
      const open = navigation.route.screen === 'all' ? useTasks().byId.get(navigation.taskId ?? '') : undefined
      return state.byId.get(open?.project_id ?? navigation.projectId ?? '') ?? items.value[0] ?? null
    }),
    /**
     * Loads everything that a project's board needs. A new project is prepared before it is opened.
     * Shares a pending request.
     */
    prepare: (projectId: string): Promise<void> => requests.share(`prepare ${projectId}`, () => load(projectId)),
    /** Returns the workflow in force; undefined until `loadWorkflow` has finished. */
    workflow: (projectId: string): WorkflowDefinition | undefined => workflows.byKey.get(projectId),
    settings: (projectId: string): ProjectSettings | undefined => settings.byKey.get(projectId),
    landsOn,
    /** Returns the name of what a task's branch begins at: the branch that it lands on, or the task below it. */
    baseOf: (task: Task): string => {
      const lower = task.stacked_on === null ? undefined : useTasks().byId.get(task.stacked_on)
      const isOver = lower && stateOf(workflows.byKey.get(lower.project_id), lower.status)?.kind === 'terminal'
      return lower && !isOver ? lower.ref : landsOn(task)
    },
    create: (input: OperationInput<'projects.create'>): Promise<Project> =>
      take(() => client.call('projects.create', input)),
    createDemo: async () => {
      const demo = await client.call('demo.create', {})
      state.put(demo.project)
      useDemo().made(demo)
      return demo
    },
    /** Returns repositories on this machine that belong to no project; only admins of the machine get them. */
    nearby: async () => (await client.call('system.nearby_repositories', {})).items,
    inspectFolder: (path: string) => client.call('system.inspect_folder', { path }),
    repos: async (projectId: string): Promise<readonly RepoState[]> =>
      (await client.call('repos.list', { project_id: projectId })).items,
    addRepo: (input: OperationInput<'repos.add'>) => client.call('repos.add', input),
    updateRepo: (input: OperationInput<'repos.update'>) => client.call('repos.update', input),
    removeRepo: (input: OperationInput<'repos.remove'>) => client.call('repos.remove', input),
    setPaused: (projectId: string, paused: boolean) =>
      update({ project_id: projectId, paused_at: paused ? new Date().toISOString() : null }),
    updateSettings: async (input: OperationInput<'projects.update_settings'>): Promise<void> =>
      void (await settings.take(input.project_id, () => client.call('projects.update_settings', input))),
  }
})
