import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ExecutionQueries, OpenExecution } from '../ports/execution-queries.ts'
import type { TaskQueries, TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceQueries, WorkspaceRecord } from '../ports/workspace-queries.ts'

type Placed = Pick<TaskRecord, 'id' | 'parent_id' | 'subtask_mode'>

/**
 * Returns the task in whose worktree a task works: an ordered subtask works in its parent's (and so on up, to the first
 * task that is no ordered subtask), every other task in its own.
 */
export function workspaceOwner<T extends Placed>(q: { readonly tasks: TaskQueries }, task: T): T | TaskRecord {
  let owner: T | TaskRecord = task
  while (owner.subtask_mode === 'ordered' && owner.parent_id !== null) {
    const parent = q.tasks.get(owner.parent_id)
    if (!parent) return owner
    owner = parent
  }
  return owner
}

/** Returns the record of the worktree that a task works in; null while there is none. */
export function workspaceOf(
  q: { readonly tasks: TaskQueries; readonly workspaces: WorkspaceQueries },
  task: Placed,
): WorkspaceRecord | null {
  return q.workspaces.byTask(workspaceOwner(q, task).id)
}

/** Returns whether a task has a worktree of its own. */
export function hasWorktree(q: { readonly workspaces: WorkspaceQueries }, task_id: TaskId): boolean {
  const workspace = q.workspaces.byTask(task_id)
  return workspace !== null && workspace.status !== 'cleaned'
}

/**
 * Returns the queued and running agent executions of other tasks that share this task's worktree; only one of them all
 * can run at a time.
 */
export function othersInWorkspace(
  q: { readonly tasks: TaskQueries; readonly executions: ExecutionQueries },
  task: TaskRecord,
): readonly OpenExecution[] {
  const owner = workspaceOwner(q, task).id
  return q.executions.queue(task.project_id).filter((one) => {
    if (one.agent_id === null || one.task_id === task.id) return false
    const other = q.tasks.get(one.task_id)
    return other !== null && workspaceOwner(q, other).id === owner
  })
}

/** Returns the workspace whose worktree is at a path, as far as its record says where it began; null if it is none's. */
export function worktreeAt(q: { readonly workspaces: WorkspaceQueries }, path: string): WorktreeAt | null {
  const found = q.workspaces.atPath(path)
  if (!found || found.base_commit === null) return null
  const { task_id, repo_path, branch, base_commit, port_base } = found
  return { task_id, repo_path, path, branch, base_commit, port_base }
}

interface WorktreeAt extends Pick<WorkspaceRecord, 'task_id' | 'repo_path' | 'path' | 'branch' | 'port_base'> {
  readonly base_commit: string
}
