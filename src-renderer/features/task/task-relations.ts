import { compareIds } from '../../../src-shared/lang/compare-ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'

/** Returns the subtasks of a task in order of creation. */
export function subtasksOf(taskId: string, all: Iterable<Task>): Task[] {
  return [...all].filter(({ parent_id }) => parent_id === taskId).sort((a, b) => compareIds(a.id, b.id))
}
