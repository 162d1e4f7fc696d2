import type { Task } from '../../../src-shared/contract/tasks.ts'

/** Why a task can't be put into another repository as far as its card tells; the service knows the rest. */
export function repoRefusal(task: Task, repoId: string): string | null {
  if (repoId === task.repo_id) return null
  if (task.subtask_mode === 'ordered') return 'It works in its parent’s worktree'
  return task.port_base === null ? null : 'It has a worktree already'
}
