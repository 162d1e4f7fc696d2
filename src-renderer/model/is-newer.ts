import type { Task } from '../../src-shared/contract/tasks.ts'

/** Whether `next` says more than `known`: replies and events may arrive in either order. */
export function isNewer(next: Task, known: Task | undefined): boolean {
  if (known === undefined || next.version > known.version) return true
  return next.version === known.version && next.updated_at >= known.updated_at
}
