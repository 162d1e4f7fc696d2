import type { Task } from '../../../src-shared/contract/tasks.ts'

/**
 * Returns the reason why a task can't move to another repository, as far as the renderer knows; the
 * service decides.
 */
export function repoRefusal(task: Task, repoId: string): string | null {
  if (repoId === task.repo_id) return null
  if (task.subtask_mode === 'ordered') return 'It works in its parent’s worktree'
  return task.port_base === null ? null : 'It has a worktree already'
}
