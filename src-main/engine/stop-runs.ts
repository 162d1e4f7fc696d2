import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import type { Executions } from '../executions/executions.ts'
import type { StepServices } from '../steps/step-services.ts'

/** Stops the role's run of a state that a hook moved the task out of. Never rejects. */
export async function stopRoleOf(
  {
    context,
    transitions,
    executions,
  }: Pick<StepServices, 'context' | 'transitions'> & { readonly executions: Executions },
  task_id: TaskId,
  left: string,
): Promise<void> {
  const { read } = context.store
  const task = read.tasks.get(task_id)
  const state = task && transitions.workflowOf(read, task).states.get(left)
  const role = state && roleOf(state)
  const open = read.executions.openOfTask(task_id).filter((record) => record.role === role)
  try {
    await Promise.all(open.map((record) => executions.stop(record.id, 'cancelled')))
  } catch (error) {
    context.log.error({ err: error, task_id }, 'an execution whose task moved on could not be ended')
  }
}

/** Ends all executions of a task: removes queued ones and stops running ones. */
export async function stopOpen(context: Pick<Ground, 'store'>, executions: Executions, task_id: TaskId): Promise<void> {
  const open = context.store.read.executions.openOfTask(task_id)
  await Promise.all(open.map((record) => executions.stop(record.id, 'cancelled')))
}
