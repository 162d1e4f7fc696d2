import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Tx } from '../core/event-feed.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'

type Owner = Pick<TaskRecord, 'id' | 'project_id'>

/**
 * Saves a worktree's record and emits it for its task and for the subtasks that share it. A cleaned worktree gives up
 * its ports.
 */
export function saveWorkspace(tx: Tx, task: Owner, record: WorkspaceRecord): void {
  const { id: workspace_id, branch, status, cleanup_at } = record
  const sharing = [task.id, ...sharers(tx, task.id)]
  saveWithCards(tx, sharing, record)
  const base = { project_id: task.project_id, task_id: task.id, workspace_id, branch }
  for (const task_id of sharing) tx.emit('workspace.updated', { ...base, task_id, status, cleanup_at })
  if (status === 'cleaned') tx.emit('workspace.cleaned', base)
}

/** Saves the ports of a worktree. One that is being created emits its event once it is ready. */
export function savePorts(tx: Tx, task: Owner, record: WorkspaceRecord): void {
  if (record.status === 'creating') saveWithCards(tx, [task.id, ...sharers(tx, task.id)], record)
  else saveWorkspace(tx, task, record)
}

/** Saves the record and emits the cards, because they show the worktree's ports. */
function saveWithCards(tx: Tx, sharing: readonly TaskId[], record: WorkspaceRecord): void {
  const before = tx.workspaces.byTask(record.task_id)?.port_base ?? null
  const port_base = record.status === 'cleaned' ? null : record.port_base
  tx.workspaces.put({ ...record, port_base })
  if (port_base !== before) for (const task_id of sharing) emitCard(tx, task_id)
}

function sharers(tx: Tx, task_id: TaskId): readonly TaskId[] {
  const ordered = tx.tasks.children(task_id).filter((one) => one.subtask_mode === 'ordered')
  return ordered.flatMap((one) => [one.id, ...sharers(tx, one.id)])
}

/** Sets `updated_at`, so that the event wins over older responses that are still on their way. */
function emitCard(tx: Tx, task_id: TaskId): void {
  const task = tx.tasks.get(task_id)
  if (task) tx.saveTask(task)
}
