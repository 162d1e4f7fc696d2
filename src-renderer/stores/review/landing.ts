import { defineStore } from 'pinia'
import type { LandingLane, LandingPlace } from '../../../src-shared/contract/landing.ts'
import { createKeyedStore } from '../base/entity-store.ts'
import { useClient } from '../base/client.ts'

/** The landing lanes by project. */
export const useLanding = defineStore('landing', () => {
  const client = useClient()
  const { byKey, put, take } = createKeyedStore<readonly LandingLane[]>()
  const isSame = (one: LandingLane, other: LandingLane): boolean =>
    one.repo_id === other.repo_id && one.branch === other.branch
  const load = async (projectId: string): Promise<void> => {
    await take(projectId, async () => (await client.call('landing.list', { project_id: projectId })).items)
  }
  const putLane = (projectId: string, lane: LandingLane): void => {
    const known = byKey.get(projectId) ?? []
    const index = known.findIndex((one) => isSame(one, lane))
    put(projectId, index < 0 ? [...known, lane] : known.with(index, lane))
  }
  return {
    /** Returns a project's lanes; undefined until `load` has finished. */
    of: (projectId: string): readonly LandingLane[] | undefined => byKey.get(projectId),
    /** Returns the task's entry in its lane; undefined if it is in none. */
    placeOf: ({ id, project_id }: { readonly id: string; readonly project_id: string }): LandingPlace | undefined =>
      byKey
        .get(project_id)
        ?.flatMap(({ tasks }) => tasks)
        .find(({ task_id }) => task_id === id),
    put: putLane,
    load,
    /** Reloads the lanes of all known projects. */
    reload: async (): Promise<void> => {
      await Promise.all([...byKey.keys()].map(load))
    },
    check: async ({ repo_id, branch }: LandingLane, projectId: string): Promise<void> => {
      const { lane } = await client.call('landing.check', { project_id: projectId, repo_id, branch })
      putLane(projectId, lane)
    },
    remove: async (projectId: string, taskId: string): Promise<void> => {
      await client.call('landing.remove', { project_id: projectId, task_id: taskId })
    },
  }
})
