import type { Task } from '../../../src-shared/contract/tasks.ts'

/** The tasks made as parts of a task, in the order in which they were written. */
export function subtasksOf(taskId: string, all: Iterable<Task>): Task[] {
  return [...all].filter(({ parent_id }) => parent_id === taskId).sort((a, b) => (a.id < b.id ? -1 : 1))
}
