import { defineStore } from 'pinia'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { PullRequest } from '../../../src-shared/contract/pull-requests.ts'
import { useClient } from '../base/client.ts'
import { createKeyedStore } from '../base/entity-store.ts'

/** The pull requests by task. */
export const usePullRequests = defineStore('pull-requests', () => {
  const client = useClient()
  /** null: the task has none. */
  const { byKey, put, take } = createKeyedStore<PullRequest | null>()

  async function get(taskId: string): Promise<PullRequest | null> {
    try {
      return await client.call('pull_requests.get', { task_id: taskId })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    }
  }
  const load = async (taskId: string): Promise<void> => void (await take(taskId, () => get(taskId)))
  return {
    /** Returns a task's pull request; undefined until `load` has finished. */
    of: (taskId: string): PullRequest | null | undefined => byKey.get(taskId),
    put,
    load,
    /** Reloads the known ones. */
    reload: async (): Promise<void> => {
      await Promise.all([...byKey.keys()].map(load))
    },
    /** Pushes the work and opens or updates the pull request. Returns whether it is new. */
    open: async (input: OperationInput<'pull_requests.open'>): Promise<boolean> => {
      let created = false
      await take(input.task_id, async () => {
        const answer = await client.call('pull_requests.open', input)
        ;({ created } = answer)
        return answer.pull_request
      })
      return created
    },
    sync: async (taskId: string): Promise<void> =>
      void (await take(taskId, () => client.call('pull_requests.sync', { task_id: taskId }))),
    merge: async (input: OperationInput<'pull_requests.merge'>): Promise<void> =>
      void (await take(input.task_id, () => client.call('pull_requests.merge', input))),
    close: async (taskId: string): Promise<void> =>
      void (await take(taskId, () => client.call('pull_requests.close', { task_id: taskId }))),
    reopen: async (taskId: string): Promise<void> =>
      void (await take(taskId, () => client.call('pull_requests.reopen', { task_id: taskId }))),
    ready: async (taskId: string): Promise<void> =>
      void (await take(taskId, () => client.call('pull_requests.ready', { task_id: taskId }))),
    reply: async (input: OperationInput<'pull_requests.reply'>): Promise<void> =>
      void (await take(input.task_id, () => client.call('pull_requests.reply', input))),
  }
})
