import { shallowReactive } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'

/**
 * The load state of a project's tasks. `begun`: the cards that its board shows first are loaded;
 * `rest` counts the missing ones by state.
 */
export type LoadState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'begun'; readonly rest: ReadonlyMap<string, number> }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Creates the state of all known tasks. Only `put` and `remove` change server state; pending moves are an overlay. */
export function createTaskState() {
  const byId = shallowReactive(new Map<string, Task>())
  /** Task ID → the target state of a pending move. */
  const pending = shallowReactive(new Map<string, string>())
  /** Task ID → the position that a pending change of the order gives it. */
  const places = shallowReactive(new Map<string, number>())
  /** The IDs of deleted tasks, so late replies and events don't restore them. */
  const gone = new Set<string>()
  const loads = shallowReactive(new Map<string, LoadState>())

  /** Returns the task with its pending move applied. */
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
    /** Updates the refs of a project's tasks after its key was changed. */
    rename(projectId: string, key: string): void {
      for (const task of byId.values())
        if (task.project_id === projectId) byId.set(task.id, { ...task, ref: `${key}-${task.number}` })
    },
    /** Removes a deleted task for good. */
    remove(taskId: string): void {
      gone.add(taskId)
      byId.delete(taskId)
      pending.delete(taskId)
    },
    /** Removes a task that the service no longer lists; it may return. */
    forget(taskId: string): void {
      byId.delete(taskId)
      pending.delete(taskId)
    },
    byProject: (projectId: string): Task[] =>
      [...byId.values()].filter((task) => task.project_id === projectId && !task.archived).map(shown),
    /** Returns the tasks of all projects. */
    everywhere: (): Task[] => [...byId.values()].filter((task) => !task.archived).map(shown),
    /** Shows the task in `status` until `work` has succeeded or failed. */
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

/** Returns whether `next` is newer than `known`: replies and events may arrive in either order. */
export function isNewer(next: Task, known: Task | undefined): boolean {
  if (known === undefined || next.version > known.version) return true
  return next.version === known.version && next.updated_at >= known.updated_at
}
