import { ApiError } from '../../src-shared/contract/errors.ts'
import type { McpScope } from './mcp-scope.ts'

/**
 * The coder's own word that the work is done. An execution that runs elsewhere is finished, which
 * moves its task; otherwise the task follows the forward transition of its state.
 */
export async function submitForReview(scope: McpScope, task_id: string, summary: string | undefined): Promise<unknown> {
  const task = await scope.call('tasks.get', { task_id })
  if (task.active_execution_id !== null) {
    const execution = await scope.call('executions.get', { execution_id: task.active_execution_id })
    if (execution.executor === 'external' || execution.executor === 'person') {
      return scope.call('executions.finish', {
        execution_id: execution.id,
        status: 'succeeded',
        ...(summary !== undefined && { summary }),
      })
    }
  }
  const workflow = await scope.call('projects.get_workflow', { project_id: task.project_id })
  const state = workflow.states.find(({ name }) => name === task.status)
  const forward = state?.kind === 'active' ? state.transitions[0] : undefined
  if (!forward) {
    throw new ApiError({
      code: 'invalid_transition',
      message: `A task in ${task.status} is not being worked on, so there is nothing to submit.`,
      details: { allowed: state?.transitions.map(({ to }) => to) ?? [] },
    })
  }
  return scope.call('tasks.transition', {
    task_id,
    status: forward.to,
    version: task.version,
    ...(summary !== undefined && { reason: summary }),
  })
}
