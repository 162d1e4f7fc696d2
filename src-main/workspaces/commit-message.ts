import type { TaskRecord } from '../ports/store.ts'

/** Subject of the commit that takes up what nobody committed. */
export const keepMessage = 'Keep uncommitted work'

/** The message of a commit that is made for a task; the trailer leads back to it. */
export function commitMessage(task: Pick<TaskRecord, 'id'>, subject: string): string {
  return `${subject}\n\nCopse-Task: ${task.id}\n`
}
