import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Tx } from './event-feed.ts'
import type { TaskRecord, WorkspaceRecord } from './store-port.ts'
import { toTask } from './views.ts'

/**
 * Keeps a worktree's record and tells everybody who looks at it, at the subtasks that work in it too. One that
 * is cleaned gives its ports back.
 */
export function saveWorkspace(tx: Tx, task: Pick<TaskRecord, 'id' | 'project_id'>, record: WorkspaceRecord): void {
  const { id: workspace_id, branch, status, cleanup_at } = record
  const port_base = status === 'cleaned' ? null : record.port_base
  const before = tx.workspaces.byTask(task.id)?.port_base ?? null
  tx.workspaces.put({ ...record, port_base })
  const base = { project_id: task.project_id, task_id: task.id, workspace_id, branch }
  for (const task_id of [task.id, ...sharers(tx, task.id)]) {
    tx.emit('workspace.updated', { ...base, task_id, status, cleanup_at })
    if (port_base !== before) tellCard(tx, task_id)
  }
  if (status === 'cleaned') tx.emit('workspace.cleaned', base)
}

function sharers(tx: Tx, task_id: TaskId): readonly TaskId[] {
  const ordered = tx.tasks.children(task_id).filter((one) => one.subtask_mode === 'ordered')
  return ordered.flatMap((one) => [one.id, ...sharers(tx, one.id)])
}

/** A card shows the ports of its worktree; the newer time lets it win over replies that are still on their way. */
function tellCard(tx: Tx, task_id: TaskId): void {
  const task = tx.tasks.get(task_id)
  if (!task) return
  const told = { ...task, updated_at: tx.now() }
  tx.tasks.put(told)
  tx.emit('task.updated', { project_id: task.project_id, task_id, task: toTask(tx, told) })
}
