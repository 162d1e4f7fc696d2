import type { StackPlace } from '../ports/stack-place.ts'
import type { TaskRecord } from '../ports/store.ts'

/** Returns the task without the annotation that says why its branch could not be brought along. */
export function withoutStackTrouble(task: TaskRecord, stack: StackPlace | null): TaskRecord {
  const isIts = stack !== null && stack.trouble !== null && task.error_annotation?.message === stack.trouble
  return isIts ? { ...task, error_annotation: null } : task
}
