import type { Client } from '../../src-shared/client/create-client.ts'
import type { OperationOutput } from '../../src-shared/contract/operations.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { TaskState } from './task-state.ts'

/** Reads tasks from the service into the state. */
export function createTaskLoading(client: Client, state: TaskState) {
  /** By project, the loads that whoever asks meanwhile shares. */
  const underWay = new Map<string, Promise<void>>()

  async function loadPages(projectId: string): Promise<readonly Task[]> {
    const tasks: Task[] = []
    let cursor: string | null = null
    do {
      const page: OperationOutput<'tasks.list'> = await client.call('tasks.list', {
        project_id: projectId,
        limit: 200,
        ...(cursor === null ? {} : { cursor }),
      })
      tasks.push(...page.items)
      cursor = page.has_more ? page.next_cursor : null
    } while (cursor !== null)
    return tasks
  }
  async function loadAll(projectId: string): Promise<void> {
    if (state.loads.get(projectId)?.kind !== 'ready') state.loads.set(projectId, { kind: 'loading' })
    const before = state.byProject(projectId).map(({ id }) => ({ id, known: state.byId.get(id) }))
    try {
      // All at once: whatever follows from the tasks is worked out one time, not once for each page.
      const tasks = await loadPages(projectId)
      const seen = new Set<string>(tasks.map(({ id }) => id))
      for (const task of tasks) state.put(task)
      for (const { id, known } of before) {
        // One that changed meanwhile may have moved from a page to come to one that was read.
        if (!seen.has(id) && state.byId.get(id) === known) state.forget(id)
      }
      state.loads.set(projectId, { kind: 'ready' })
    } catch (error) {
      // A board that is there stays, to be read at least.
      if (state.loads.get(projectId)?.kind === 'ready') throw error
      state.loads.set(projectId, { kind: 'failed', error })
    }
  }
  return {
    /**
     * Loads all tasks of a project and forgets those that are gone. A failure becomes the project's load state, or
     * rejects where its tasks were loaded before. Shares a load that is under way.
     */
    async load(projectId: string): Promise<void> {
      const load = underWay.get(projectId) ?? loadAll(projectId)
      underWay.set(projectId, load)
      try {
        await load
      } finally {
        if (underWay.get(projectId) === load) underWay.delete(projectId)
      }
    },
    /** Events were missed: what is under way may be old already, and nobody is to share it any more. */
    loadAnew: () => underWay.clear(),
    async fetch(taskId: string): Promise<Task> {
      const task = await client.call('tasks.get', { task_id: taskId })
      state.put(task)
      return task
    },
  }
}
