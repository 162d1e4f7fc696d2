import { compareIds } from '../../../src-shared/lang/compare-ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'

/** The tasks made as parts of a task, in the order in which they were written. */
export function subtasksOf(taskId: string, all: Iterable<Task>): Task[] {
  return [...all].filter(({ parent_id }) => parent_id === taskId).sort((a, b) => compareIds(a.id, b.id))
}
