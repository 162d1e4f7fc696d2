import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { Job } from '../../helpers/job.ts'

/** Saves a workflow in the job's project: a definition, or text as it is. */
export const updateWorkflow = (job: Job, definition: unknown) =>
  job.running.client.call('projects.update', {
    project_id: job.project.id,
    workflow_definition: typeof definition === 'string' ? definition : JSON.stringify(definition),
  })
/** The current workflow. */
export const workflowOf = (job: Job) => job.running.client.call('projects.get_workflow', { project_id: job.project.id })
/** Moves a task as the person who is signed in. */
export const move = async (job: Job, task_id: TaskId, status: string) => {
  const { version } = await job.running.client.call('tasks.get', { task_id })
  return job.running.client.call('tasks.transition', { task_id, status, version })
}

/** A definition with some states renamed wherever they are named. */
export function renaming(definition: WorkflowDefinition, names: Readonly<Record<string, string>>): WorkflowDefinition {
  const keys = ['name', 'to', 'cascade', 'reject_target', 'initial_state', 'cancellation_state']
  const renamed = JSON.parse(JSON.stringify(definition), (key: string, value: unknown) =>
    keys.includes(key) ? (names[value as string] ?? value) : value,
  ) as WorkflowDefinition
  const old = new Map(Object.entries(names).map(([from, to]) => [to, from]))
  const states = renamed.states.map((state) => {
    const renamed_from = old.get(state.name)
    return renamed_from === undefined ? state : { ...state, renamed_from }
  })
  return { ...renamed, states }
}

/** A definition without a state and the transitions to it. */
export function without(definition: WorkflowDefinition, gone: string): WorkflowDefinition {
  const states = definition.states
    .filter((state) => state.name !== gone)
    .map((state) => ({ ...state, transitions: state.transitions.filter(({ to }) => to !== gone) }))
  return { ...definition, states }
}
