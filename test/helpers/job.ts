import { createTestRepository, type TestRepository } from './git-repository.ts'
import { present } from './present.ts'
import { runApp, type RunningApp, type RunOptions } from './running-app.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import type { Agent, Project, ProjectSettings } from '../../src-shared/contract/projects.ts'
import type { Task, TransitionEntry } from '../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'

/** A running app with a project on a real repository, and shortcuts for common steps. */
export interface Job extends AsyncDisposable {
  running: RunningApp
  readonly repository: TestRepository
  readonly project: Project
  /** An agent that runs this shell command in its worktree. */
  agent(command: string, name?: string): Promise<Agent>
  task(more?: Partial<OperationInput<'tasks.create'>>): Promise<Task>
  claim(task: Task, agent: Agent): Promise<{ task: Task; execution: Execution; path: string }>
  /** The states of a task's history, with who moved it. */
  history(task_id: string): Promise<string[]>
  transitions(task_id: string): Promise<readonly TransitionEntry[]>
  executions(task_id: string): Promise<readonly Execution[]>
  settings(patch: Partial<ProjectSettings>): Promise<void>
}

/** The default workflow with another budget at its review. */
export const budget = (max_rejections: number) => (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) =>
    state.name === 'review' ? { ...state, gate_config: { ...state.gate_config, max_rejections } } : state,
  ),
})

export async function startJob(
  options: RunOptions & {
    readonly files?: Readonly<Record<string, string>>
    readonly workflow?: (standard: WorkflowDefinition) => unknown
  } = {},
): Promise<Job> {
  const repository = await createTestRepository(options.files ? { files: options.files } : {})
  const running = await runApp(options)
  const project = await running.client.call('projects.create', { name: 'Job', repo_path: repository.path })
  if (options.workflow) {
    const standard = await running.client.call('projects.get_workflow', { project_id: project.id })
    const workflow_definition = JSON.stringify(options.workflow(standard))
    await running.client.call('projects.update', { project_id: project.id, workflow_definition })
  }
  const job: Job = {
    running,
    repository,
    project,
    agent: (command, name = 'Scripted') =>
      job.running.client.call('agents.create', { name, executor: 'command', config: { command } }),
    task: (more = {}) => job.running.client.call('tasks.create', { project_id: project.id, title: 'A task', ...more }),
    claim: async (task, agent) => {
      const claimed = await job.running.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      return { ...claimed, execution: present(claimed.execution), path: claimed.workspace?.path ?? '' }
    },
    transitions: async (task_id) => (await job.running.client.call('tasks.transitions', { task_id })).items,
    history: async (task_id) =>
      (await job.transitions(task_id)).map(
        (entry) => `${entry.from_state} > ${entry.to_state} by ${entry.triggered_by.split(':')[0] ?? ''}`,
      ),
    executions: async (task_id) => (await job.running.client.call('tasks.executions', { task_id })).items,
    settings: async (patch) => {
      await job.running.client.call('projects.update_settings', { project_id: project.id, ...patch })
    },
    [Symbol.asyncDispose]: async () => {
      await job.running[Symbol.asyncDispose]()
      await repository[Symbol.asyncDispose]()
    },
  }
  return job
}
