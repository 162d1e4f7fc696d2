import { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { plainTask } from '../../helpers/plain-task.ts'

/** The n-th task, with defaults except for the given fields. */
export function taskOf(index: number, rest: Partial<Task> = {}): Task {
  const id = TaskId.parse(`01990005-0000-7000-8000-${String(index).padStart(12, '0')}`)
  return { ...plainTask(id, '2026-11-21T09:00:00.000Z'), ...rest }
}
