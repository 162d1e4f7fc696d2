import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { OperationInput, OperationOutput } from '../../src-shared/contract/operations.ts'
import type { RecoveryAction, Task, TaskMove } from '../../src-shared/contract/tasks.ts'
import { useClient } from './client.ts'
import { isNewer } from './put-newer.ts'

/** How the loading of a project's tasks stands. */
export type LoadState =
  { readonly kind: 'loading' } | { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly error: unknown }

/** Every task that the app knows. Server state changes through `put` and `remove` only; a move that is under way is an overlay. */
export const useTasks = defineStore('tasks', () => {
  const client = useClient()
  const byId = shallowReactive(new Map<string, Task>())
  /** Task id → the state that a move under way will lead to. */
  const pending = shallowReactive(new Map<string, string>())
  const loads = shallowReactive(new Map<string, LoadState>())

  function put(task: Task): void {
    if (isNewer(task, byId.get(task.id))) byId.set(task.id, task)
  }
  function remove(taskId: string): void {
    byId.delete(taskId)
    pending.delete(taskId)
  }
  /** The task as it is shown: with the move that is under way. */
  function shown(task: Task): Task {
    const status = pending.get(task.id)
    return status === undefined ? task : { ...task, status }
  }
  function byProject(projectId: string): Task[] {
    return [...byId.values()].filter((task) => task.project_id === projectId && !task.archived).map(shown)
  }
  /** Shows the task in `status` while `work` runs; whatever comes of it, the overlay goes. */
  async function moving<T>(taskId: string, status: string, work: () => Promise<T>): Promise<T> {
    pending.set(taskId, status)
    try {
      return await work()
    } finally {
      pending.delete(taskId)
    }
  }
  async function answered<T extends { readonly task: Task }>(call: Promise<T>): Promise<T> {
    const reply = await call
    put(reply.task)
    return reply
  }
  /** The version that a change is based on; asks the service where the task is not known. */
  async function versionOf(taskId: string): Promise<number> {
    const known = byId.get(taskId)
    return (known ?? (await fetch(taskId))).version
  }
  async function fetch(taskId: string): Promise<Task> {
    const task = await client.call('tasks.get', { task_id: taskId })
    put(task)
    return task
  }
  async function load(projectId: string): Promise<void> {
    if (loads.get(projectId)?.kind !== 'ready') loads.set(projectId, { kind: 'loading' })
    try {
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
          put(task)
        }
        cursor = page.has_more ? page.next_cursor : null
      } while (cursor !== null)
      for (const task of byId.values())
        if (task.project_id === projectId && !task.archived && !seen.has(task.id)) byId.delete(task.id)
      loads.set(projectId, { kind: 'ready' })
    } catch (error) {
      loads.set(projectId, { kind: 'failed', error })
    }
  }

  return {
    byId,
    pending,
    byProject,
    put,
    remove,
    load,
    fetch,
    moving,
    loadState: (projectId: string): LoadState => loads.get(projectId) ?? { kind: 'loading' },
    create: async (input: OperationInput<'tasks.create'>) => {
      const task = await client.call('tasks.create', input)
      put(task)
      return task
    },
    update: async (input: OperationInput<'tasks.update'>) => {
      const task = await client.call('tasks.update', input)
      put(task)
      return task
    },
    /** Without an agent the caller takes the task. */
    claim: (taskId: string, agentId?: string, overrides?: OperationInput<'tasks.claim'>['overrides']) =>
      answered(
        client.call('tasks.claim', {
          task_id: taskId,
          ...(agentId === undefined ? {} : { agent_id: agentId }),
          ...(overrides === undefined ? {} : { overrides }),
        }),
      ),
    transition: async (taskId: string, status: string, reason?: string) =>
      answered(
        client.call('tasks.transition', {
          task_id: taskId,
          status,
          version: await versionOf(taskId),
          ...(reason === undefined ? {} : { reason }),
        }),
      ),
    verdict: async (taskId: string, verdict: 'pass' | 'fail', feedback?: string) =>
      answered(
        client.call('tasks.verdict', {
          task_id: taskId,
          verdict,
          version: await versionOf(taskId),
          ...(feedback === undefined ? {} : { feedback }),
        }),
      ),
    cancel: (taskId: string) => answered(client.call('tasks.cancel', { task_id: taskId })),
    assignRole: (taskId: string, role: string, agentId: string) =>
      answered(client.call('tasks.assign_role', { task_id: taskId, role, agent_id: agentId })),
    archive: (taskId: string) => answered(client.call('tasks.archive', { task_id: taskId })),
    unarchive: (taskId: string) => answered(client.call('tasks.unarchive', { task_id: taskId })),
    recover: (taskId: string, action: RecoveryAction, reason?: string) =>
      answered(client.call('tasks.recover', { task_id: taskId, action, ...(reason === undefined ? {} : { reason }) })),
    delete: async (taskId: string) => {
      await client.call('tasks.delete', { task_id: taskId })
      remove(taskId)
    },
    /** The name of the task's branch; refused before the first claim. */
    branch: async (taskId: string): Promise<string> =>
      (await client.call('tasks.workspace', { task_id: taskId })).branch,
    moves: async (taskId: string): Promise<TaskMove[]> => (await client.call('tasks.moves', { task_id: taskId })).items,
  }
})
