import { shallowReactive } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'

/**
 * How the loading of a project's tasks stands. `begun`: what its board shows first is there, and so many more are on
 * their way in each state.
 */
export type LoadState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'begun'; readonly rest: ReadonlyMap<string, number> }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** What is known of the tasks. Server state changes through `put` and `remove` only; a move under way is an overlay. */
export function createTaskState() {
  const byId = shallowReactive(new Map<string, Task>())
  /** Task id → the state that a move under way will lead to. */
  const pending = shallowReactive(new Map<string, string>())
  /** Task id → the position that a change of the order under way will give it. */
  const places = shallowReactive(new Map<string, number>())
  /** Those that were deleted: what was on its way about them comes too late. */
  const gone = new Set<string>()
  const loads = shallowReactive(new Map<string, LoadState>())

  /** The task as it is shown: with the move that is under way. */
  function shown(task: Task): Task {
    const status = pending.get(task.id)
    const position = places.get(task.id)
    if (status === undefined && position === undefined) return task
    return { ...task, status: status ?? task.status, position: position ?? task.position }
  }
  return {
    byId,
    pending,
    loads,
    put(task: Task): void {
      if (!gone.has(task.id) && isNewer(task, byId.get(task.id))) byId.set(task.id, task)
    },
    /** The key of a project was changed, and with it what its tasks are called. */
    rename(projectId: string, key: string): void {
      for (const task of byId.values())
        if (task.project_id === projectId) byId.set(task.id, { ...task, ref: `${key}-${task.number}` })
    },
    /** It was deleted. */
    remove(taskId: string): void {
      gone.add(taskId)
      byId.delete(taskId)
      pending.delete(taskId)
    },
    /** It is not among what the service lists any more; it may come back. */
    forget(taskId: string): void {
      byId.delete(taskId)
      pending.delete(taskId)
    },
    byProject: (projectId: string): Task[] =>
      [...byId.values()].filter((task) => task.project_id === projectId && !task.archived).map(shown),
    /** Those of every project. */
    everywhere: (): Task[] => [...byId.values()].filter((task) => !task.archived).map(shown),
    /** Shows the task in `status` while `work` runs; whatever comes of it, the overlay goes. */
    async moving<T>(taskId: string, status: string, work: () => Promise<T>): Promise<T> {
      pending.set(taskId, status)
      try {
        return await work()
      } finally {
        pending.delete(taskId)
      }
    },
    /** Shows the task at `position` while `work` runs, unless it is moved again before that ends. */
    async placing<T>(taskId: string, position: number, work: () => Promise<T>): Promise<T> {
      places.set(taskId, position)
      try {
        return await work()
      } finally {
        if (places.get(taskId) === position) places.delete(taskId)
      }
    },
    loadState: (projectId: string): LoadState => loads.get(projectId) ?? { kind: 'loading' },
  }
}

export type TaskState = ReturnType<typeof createTaskState>

/** Whether `next` says more than `known`: replies and events may arrive in either order. */
export function isNewer(next: Task, known: Task | undefined): boolean {
  if (known === undefined || next.version > known.version) return true
  return next.version === known.version && next.updated_at >= known.updated_at
}
