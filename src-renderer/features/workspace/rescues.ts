import type { Rescue, RestoredRescue } from '../../../src-shared/contract/rescues.ts'
import type { Diff } from '../../../src-shared/contract/workspaces.ts'
import { useClient } from '../../stores/base/client.ts'

/** The scope of rescues: of a task, or of a project including deleted tasks. */
export type RescueScope =
  | { readonly kind: 'task'; readonly task_id: string }
  | { readonly kind: 'project'; readonly project_id: string }

/** Returns the requests that list, show, restore and delete rescues. */
export function useRescues() {
  const client = useClient()
  return {
    /** Newest first. */
    list: async (scope: RescueScope): Promise<readonly Rescue[]> =>
      scope.kind === 'task'
        ? (await client.call('rescues.of_task', { task_id: scope.task_id })).items
        : (await client.call('rescues.of_project', { project_id: scope.project_id })).items,
    /** Returns the diff of a rescue; with `path` only of that file. */
    diff: (scope: RescueScope, { task_id, timestamp }: Rescue, path?: string): Promise<Diff> => {
      const file = path === undefined ? {} : { path }
      return scope.kind === 'task'
        ? client.call('rescues.diff', { task_id, timestamp, ...file })
        : client.call('rescues.diff_in_project', { project_id: scope.project_id, of_task: task_id, timestamp, ...file })
    },
    restore: (scope: RescueScope, { task_id, timestamp }: Rescue): Promise<RestoredRescue> =>
      scope.kind === 'task'
        ? client.call('rescues.restore', { task_id, timestamp })
        : client.call('rescues.restore_in_project', { project_id: scope.project_id, of_task: task_id, timestamp }),
    giveUp: async (scope: RescueScope, { task_id, timestamp }: Rescue): Promise<void> => {
      if (scope.kind === 'task') await client.call('rescues.delete', { task_id, timestamp })
      else await client.call('rescues.delete_in_project', { project_id: scope.project_id, of_task: task_id, timestamp })
    },
  }
}
