import type { Client } from '../../src-shared/client/create-client.ts'
import type { OperationOutput } from '../../src-shared/contract/operations.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { TaskState } from './task-state.ts'

/** Reads tasks from the service into the state. */
export function createTaskLoading(client: Client, state: TaskState) {
  /** Puts every page of the project's tasks; answers the ids that the service has. */
  async function loadPages(projectId: string): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    let cursor: string | null = null
    do {
      const page: OperationOutput<'tasks.list'> = await client.call('tasks.list', {
        project_id: projectId,
        limit: 200,
        ...(cursor === null ? {} : { cursor }),
      })
      for (const task of page.items) {
        seen.add(task.id)
        state.put(task)
      }
      cursor = page.has_more ? page.next_cursor : null
    } while (cursor !== null)
    return seen
  }
  return {
    /** Loads all tasks of a project and forgets those that are gone; a failure becomes the project's load state. */
    async load(projectId: string): Promise<void> {
      if (state.loads.get(projectId)?.kind !== 'ready') state.loads.set(projectId, { kind: 'loading' })
      const before = state.byProject(projectId).map(({ id }) => ({ id, known: state.byId.get(id) }))
      try {
        const seen = await loadPages(projectId)
        for (const { id, known } of before) {
          // One that changed meanwhile may have moved from a page to come to one that was read.
          if (!seen.has(id) && state.byId.get(id) === known) state.forget(id)
        }
        state.loads.set(projectId, { kind: 'ready' })
      } catch (error) {
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
