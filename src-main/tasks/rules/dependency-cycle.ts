import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'

/** `task_id` waits for the other task. */
export interface DependencyPair {
  readonly task_id: TaskId
  readonly depends_on_id: TaskId
}

/** The refusal for a dependency on a task of another project. */
export function crossProjectDependency(project_id: ProjectId): Refusal {
  const message = 'A task can depend only on tasks of its project.'
  return { code: 'cross_project_dependency', message, details: { project_id } }
}

/**
 * Returns the shortest cycle that a new dependency would close, as IDs from the task back to itself, each waiting for
 * the next; null when there is none. A task that would wait for itself is the shortest.
 */
export function cycleThrough(wanted: DependencyPair, existing: readonly DependencyPair[]): readonly TaskId[] | null {
  const { task_id, depends_on_id } = wanted
  if (task_id === depends_on_id) return [task_id, task_id]
  const waitsFor = Map.groupBy(existing, (pair) => pair.task_id)
  const cameFrom = new Map<TaskId, TaskId>([[depends_on_id, task_id]])
  const queue: TaskId[] = [depends_on_id]
  for (const current of queue) {
    for (const { depends_on_id: next } of waitsFor.get(current) ?? []) {
      if (next === task_id) return wayTo(current, task_id, cameFrom)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, current)
      queue.push(next)
    }
  }
  return null
}

/** Returns the path from the last task of the cycle back to the first, closed. */
function wayTo(last: TaskId, first: TaskId, cameFrom: ReadonlyMap<TaskId, TaskId>): readonly TaskId[] {
  const path = [first]
  for (let at: TaskId | undefined = last; at !== undefined && at !== first; at = cameFrom.get(at)) path.push(at)
  path.push(first)
  return path.toReversed()
}
