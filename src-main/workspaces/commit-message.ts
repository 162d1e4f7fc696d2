import type { TaskRecord } from '../ports/task-queries.ts'

/** Subject of the commit that saves uncommitted work. */
export const keepMessage = 'Keep uncommitted work'

/** Returns the message of a commit for a task; its trailer names the task. */
export function commitMessage(task: Pick<TaskRecord, 'id'>, subject: string): string {
  return `${subject}\n\nCopse-Task: ${task.id}\n`
}
