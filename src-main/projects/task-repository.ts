import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { RepoId } from '../../src-shared/contract/ids.ts'
import { invalidInput } from '../domain/refusal.ts'
import type { Tx } from '../core/event-feed.ts'
import type { RepoRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/**
 * Prepares a task to work in another repository of its project, together with its ordered subtasks. Refused, without
 * a write, once the task has a worktree or a branch with work.
 */
export function leaveRepository(tx: Tx, task: TaskRecord, repo_id: RepoId): Refusal | null {
  const repo = tx.repos.get(repo_id)
  if (repo?.project_id !== task.project_id) return invalidInput('repo_id', 'The project has no such repository.')
  if (task.subtask_mode === 'ordered') {
    return invalidInput('repo_id', "An ordered subtask works in its parent's workspace, hence in its repository.")
  }
  const workspace = tx.workspaces.byTask(task.id)
  if (workspace) {
    // After a reset only the workspace's branch name is left.
    if (workspace.status !== 'cleaned' || workspace.base_commit !== null) return hasWorktree(workspace.branch)
    const { id: workspace_id, branch, status, cleanup_at } = workspace
    tx.workspaces.put({ ...workspace, repo_path: repo.path, base_branch: repo.default_branch })
    const base = { project_id: task.project_id, task_id: task.id, workspace_id, branch }
    tx.emit('workspace.updated', { ...base, status, cleanup_at })
  }
  bringAlong(tx, task, repo)
  return null
}

function bringAlong(tx: Tx, parent: TaskRecord, repo: RepoRecord): void {
  for (const child of tx.tasks.children(parent.id)) {
    if (child.subtask_mode !== 'ordered') continue
    tx.saveTask({ ...child, repo_id: repo.id, version: child.version + 1 })
    bringAlong(tx, child, repo)
  }
}

function hasWorktree(branch: string): Refusal {
  const message =
    `The task's work is on ${branch} of its repository. To start over in another one, ` +
    'reassign its coder with reset_workspace first: the work is kept as a snapshot.'
  return { code: 'repo_in_use', message, details: { branch } }
}
