import { defineStore } from 'pinia'
import type { Overlap } from '../../../src-shared/contract/overlaps.ts'
import { useClient } from '../base/client.ts'
import { createKeyedStore } from '../base/entity-store.ts'

/** Overlaps between live worktrees, by project. */
export const useOverlaps = defineStore('overlaps', () => {
  const client = useClient()
  const { byKey, put, take } = createKeyedStore<readonly Overlap[]>()
  const load = async (projectId: string): Promise<void> => {
    await take(projectId, async () => (await client.call('overlaps.list', { project_id: projectId })).items)
  }
  return {
    /** Returns the conflicts of a task, each with the other task's ID. */
    conflictsOf: ({ id, project_id }: { readonly id: string; readonly project_id: string }) =>
      (byKey.get(project_id) ?? [])
        .filter(({ a, b, kind }) => kind === 'conflict' && (a === id || b === id))
        .map(({ a, b, files }) => ({ with: a === id ? b : a, files })),
    put,
    load,
    /** Reloads the overlaps of all known projects. */
    reload: async (): Promise<void> => {
      await Promise.all([...byKey.keys()].map(load))
    },
  }
})
