import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Tx } from './event-feed.ts'
import type { TaskRecord, WorkspaceRecord } from './store-port.ts'

/** Keeps a worktree's record and tells everybody who looks at it, at the subtasks that work in it too. */
export function saveWorkspace(tx: Tx, task: Pick<TaskRecord, 'id' | 'project_id'>, record: WorkspaceRecord): void {
  tx.workspaces.put(record)
  const { id: workspace_id, branch, status, cleanup_at } = record
  const base = { project_id: task.project_id, task_id: task.id, workspace_id, branch }
  for (const task_id of [task.id, ...sharers(tx, task.id)]) {
    tx.emit('workspace.updated', { ...base, task_id, status, cleanup_at })
  }
  if (status === 'cleaned') tx.emit('workspace.cleaned', base)
}

function sharers(tx: Tx, task_id: TaskId): readonly TaskId[] {
  const ordered = tx.tasks.children(task_id).filter((one) => one.subtask_mode === 'ordered')
  return ordered.flatMap((one) => [one.id, ...sharers(tx, one.id)])
}
