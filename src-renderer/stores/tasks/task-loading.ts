import type { Client } from '../../../src-shared/client/create-client.ts'
import type { OperationOutput } from '../../../src-shared/contract/operations.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { TaskState } from './task-state.ts'

/** Creates the functions that load tasks into the state. */
export function createTaskLoading(client: Client, state: TaskState) {
  async function loadPages(projectId: string): Promise<readonly Task[]> {
    const tasks: Task[] = []
    let cursor: string | null = null
    do {
      const page: OperationOutput<'tasks.list'> = await client.call('tasks.list', {
        project_id: projectId,
        limit: 500,
        ...(cursor === null ? {} : { cursor }),
      })
      tasks.push(...page.items)
      cursor = page.has_more ? page.next_cursor : null
    } while (cursor !== null)
    return tasks
  }
  /** Loads and shows the cards that a board shows first. Returns all tasks if these were all, else null. */
  async function loadFirst(projectId: string): Promise<readonly Task[] | null> {
    const { items, counts } = await client.call('tasks.board', { project_id: projectId })
    const shown = Map.groupBy(items, ({ status }) => status)
    const remaining = Object.entries(counts).map(
      ([status, count]) => [status, count - (shown.get(status)?.length ?? 0)] as const,
    )
    const rest = new Map(remaining.filter(([, count]) => count > 0))
    if (rest.size === 0) return items
    for (const task of items) state.put(task)
    state.loads.set(projectId, { kind: 'begun', rest })
    return null
  }
  return {
    /**
     * Loads all tasks of a project and drops missing ones. A failure becomes the project's load
     * state, or rejects if its tasks were loaded before.
     */
    async load(projectId: string): Promise<void> {
      const wasReady = state.loads.get(projectId)?.kind === 'ready'
      if (state.loads.get(projectId)?.kind === 'failed') state.loads.set(projectId, { kind: 'loading' })
      const before = state.byProject(projectId).map(({ id }) => ({ id, known: state.byId.get(id) }))
      try {
        const first = wasReady ? null : await loadFirst(projectId)
        // All pages are stored at once, so computed values run once rather than per page.
        const tasks = first ?? (await loadPages(projectId))
        const seen = new Set<string>(tasks.map(({ id }) => id))
        for (const task of tasks) state.put(task)
        for (const { id, known } of before) {
          // A task that changed during loading may have moved from an unread page to a read one.
          if (!seen.has(id) && state.byId.get(id) === known) state.forget(id)
        }
        state.loads.set(projectId, { kind: 'ready' })
      } catch (error) {
        // The loaded board stays readable.
        if (wasReady) throw error
        state.loads.set(projectId, { kind: 'failed', error })
      }
    },
    async fetch(taskId: string): Promise<Task> {
      const task = await client.call('tasks.get', { task_id: taskId })
      state.put(task)
      return task
    },
  }
}
