import type { Tx } from './event-feed.ts'
import type { TaskRecord, WorkspaceRecord } from './store-port.ts'

/** Keeps a worktree's record and tells everybody who looks at it. */
export function saveWorkspace(tx: Tx, task: Pick<TaskRecord, 'id' | 'project_id'>, record: WorkspaceRecord): void {
  tx.workspaces.put(record)
  const { id: workspace_id, branch, status, cleanup_at } = record
  const base = { project_id: task.project_id, task_id: task.id, workspace_id, branch }
  tx.emit('workspace.updated', { ...base, status, cleanup_at })
  if (status === 'cleaned') tx.emit('workspace.cleaned', base)
}
