import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { roleOf, workStateOf } from '../domain/workflow/graph.ts'
import { nowIso } from './context.ts'
import type { Tx } from './event-feed.ts'
import type { StepDeps } from './perform-step.ts'
import type { TaskRecord } from './store-port.ts'
import { toTask } from './views.ts'

/**
 * Gives a role to somebody. A new coder takes the task back to the queue, because the work in
 * progress was another's; other roles are only written down. Answers whether it moved.
 */
export function assignRole(
  deps: StepDeps,
  tx: Tx,
  request: { task_id: TaskId; role: string; assignee: Assignee; triggered_by: string },
): { readonly moved: boolean } | Refusal {
  const task = tx.tasks.get(request.task_id)
  if (!task) return { code: 'not_found', message: 'There is no such task.', details: { resource: 'task' } }
  const workflow = deps.transitions.workflowOf(tx, task)
  const state = workflow.states.get(task.status)
  const known = new Set(workflow.definition.states.flatMap((one) => roleOf(one) ?? []))
  for (const role of workflow.definition.roles) known.add(role.name)
  if (!known.has(request.role)) {
    return {
      code: 'unknown_role',
      message: `The workflow has no role ${request.role}. It has: ${[...known].join(', ')}.`,
    }
  }
  if (state?.kind === 'terminal')
    return { code: 'task_terminal', message: 'The task is finished; its roles stay as they are.' }
  const assigned: TaskRecord = { ...task, roles: { ...task.roles, [request.role]: request.assignee } }
  const work = workStateOf(workflow, workflow.queue)
  const goesBack =
    work !== null && roleOf(work) === request.role && state?.kind !== 'backlog' && state?.kind !== 'initial'
  if (goesBack) {
    const moved = deps.transitions.apply(tx, assigned, {
      to: workflow.queue.name,
      cause: 'cascade',
      triggered_by: request.triggered_by,
      version: null,
      reason: 'reassigned',
      patch: { review_passed_at: null, active_execution_id: null },
    })
    return isRefusal(moved) ? moved : { moved: true }
  }
  const kept = { ...assigned, version: task.version + 1, updated_at: nowIso(deps.context) }
  tx.tasks.put(kept)
  tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, kept) })
  return { moved: false }
}
