import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Job } from './job.ts'

/** The fields that make a task an ordered subtask of another. */
export const ordered = (parent: Task, title = 'Subtask') =>
  ({ title, parent_id: parent.id, subtask_mode: 'ordered' }) as const

/** A parent whose coder has finished, so that its worktree is free. */
export async function workedParent(job: Job): Promise<{ parent: Task; path: string }> {
  const agent = await job.agent('echo parent > parent.txt; echo done', 'Parent')
  const task = await job.task({ title: 'Parent' })
  const { path } = await job.claim(task, agent)
  return {
    parent: await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier),
    path,
  }
}
