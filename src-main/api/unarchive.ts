import type { TaskId, TransitionId } from '../../src-shared/contract/ids.ts'
import { actorOf, type Principal } from '../domain/access/principal.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ApiParts } from './context.ts'
import { findProject, findTask } from './find.ts'

/**
 * Restores an archived task. If the workflow no longer has its state, it starts in the entry state; the audit says
 * who restored it.
 */
export function unarchive(parts: ApiParts, task_id: TaskId, principal: Principal): TaskRecord {
  return parts.feed.commit((tx) => {
    const task = findTask(tx, task_id)
    const { project_id } = task
    const { states, entry } = parts.workflows.of(findProject(tx, project_id).workflow_definition)
    const back: TaskRecord = { ...task, archived: false, version: task.version + 1 }
    if (states.has(task.status)) return tx.saveTask(back)
    const now = tx.now()
    const to = { status: entry.name, entry_barrier: false, error_annotation: null }
    const moved: TaskRecord = { ...back, ...to, updated_at: now }
    const triggered_by = actorOf(principal)
    tx.tasks.put(moved)
    tx.transitions.put({
      id: parts.newId() as TransitionId,
      task_id,
      from_state: task.status,
      to_state: entry.name,
      triggered_by,
      rejection: false,
      trigger_reason: `The workflow no longer has ${task.status}.`,
      hooks: [],
      created_at: now,
    })
    tx.effects.removeOfTask(task_id)
    const entered = { from_state: task.status, to_state: entry.name, triggered_by }
    tx.emit('task.transitioned', { project_id, task_id, task: parts.engine.views.task(moved), ...entered })
    return moved
  })
}
