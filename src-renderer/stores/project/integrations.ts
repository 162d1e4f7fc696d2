import { defineStore } from 'pinia'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Integration, SyncCounts } from '../../../src-shared/contract/integrations.ts'
import type { IntegrationCheck } from '../../../src-shared/contract/pull-requests.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { createKeyedStore } from '../base/entity-store.ts'
import { useClient } from '../base/client.ts'
import { useTasks } from '../tasks/tasks.ts'

/** The issue-tracker integrations by project. */
export const useIntegrations = defineStore('integrations', () => {
  const client = useClient()
  /** null: the project has no integration. */
  const { byKey, put, take } = createKeyedStore<Integration | null>()

  async function get(projectId: string): Promise<Integration | null> {
    try {
      return await client.call('integrations.get', { project_id: projectId })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    }
  }
  const load = async (projectId: string): Promise<void> => void (await take(projectId, () => get(projectId)))
  return {
    /** Returns a project's integration; undefined until `load` has finished. */
    of: (projectId: string): Integration | null | undefined => byKey.get(projectId),
    put,
    load,
    /** Reloads the known integrations. */
    reload: async (): Promise<void> => {
      await Promise.all([...byKey.keys()].map(load))
    },
    create: async (input: OperationInput<'integrations.create'>): Promise<void> =>
      void (await take(input.project_id, () => client.call('integrations.create', input))),
    update: async (input: OperationInput<'integrations.update'>): Promise<void> =>
      void (await take(input.project_id, () => client.call('integrations.update', input))),
    remove: async (projectId: string): Promise<void> => {
      await client.call('integrations.delete', { project_id: projectId })
      put(projectId, null)
    },
    sync: (projectId: string): Promise<SyncCounts> => client.call('integrations.sync', { project_id: projectId }),
    /** Asks the forge what the token may do. */
    check: (projectId: string): Promise<IntegrationCheck> =>
      client.call('integrations.check', { project_id: projectId }),
    /** Links a task to the issue at `url`. */
    link: async (taskId: string, url: string): Promise<void> => {
      useTasks().put((await client.call('tasks.link', { task_id: taskId, url })).task)
    },
  }
})
