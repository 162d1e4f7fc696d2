import { ApiError } from '../../../src-shared/contract/errors.ts'
import { isFinishedOverApi } from '../../../src-shared/contract/executor-profiles.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { McpScope } from './scope.ts'

interface Submission {
  readonly task_id: TaskId
  readonly summary: string | undefined
  /** The version that the work is for; by default the task's current one. */
  readonly version: number | undefined
}

/**
 * Submits the coder's work. An external execution is finished, which moves its task; otherwise the task follows the
 * forward transition of its state.
 */
export async function submitForReview(scope: McpScope, { task_id, summary, version }: Submission): Promise<unknown> {
  const task = await scope.call('tasks.get', { task_id })
  if (task.active_execution_id !== null) {
    const execution = await scope.call('executions.get', { execution_id: task.active_execution_id })
    if (isFinishedOverApi(execution.executor)) {
      if (version !== undefined && version !== task.version) throw changed(task.version)
      return scope.call('executions.finish', {
        execution_id: execution.id,
        status: 'succeeded',
        ...(summary !== undefined && { summary }),
      })
    }
  }
  const workflow = await scope.call('projects.get_workflow', { project_id: task.project_id })
  const state = workflow.states.find(({ name }) => name === task.status)
  const forward = state?.kind === 'active' ? state.transitions[0]?.to : undefined
  // The API refuses to move a finished task, with the same error everywhere.
  const status = state?.kind === 'terminal' ? state.name : forward
  if (status === undefined) {
    throw new ApiError({
      code: 'invalid_transition',
      message: `A task in ${task.status} is not being worked on, so there is nothing to submit.`,
      details: { allowed: state?.transitions.map(({ to }) => to) ?? [] },
    })
  }
  return scope.call('tasks.transition', {
    task_id,
    status,
    version: version ?? task.version,
    ...(summary !== undefined && { reason: summary }),
  })
}

const changed = (version: number) =>
  new ApiError({
    code: 'version_conflict',
    message: `Someone changed the task: it is at version ${version}. Read it again, then submit.`,
    details: { version },
  })
