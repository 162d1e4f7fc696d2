import { defineStore } from 'pinia'
import { computed } from 'vue'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Runner, RunnerCheckStep } from '../../../src-shared/contract/runners.ts'
import { useClient } from '../base/client.ts'
import { createEntityStore } from '../base/entity-store.ts'

/** The places where agents can run: this machine, and those that an admin added. */
export const useRunners = defineStore('runners', () => {
  const client = useClient()
  const { byId, loaded, put, remove, take, replace } = createEntityStore<Runner>()
  const isHere = ({ kind }: Runner): boolean => kind === 'here'
  /** This machine first, then by name. */
  const items = computed(() =>
    [...byId.values()].sort((a, b) => Number(isHere(b)) - Number(isHere(a)) || a.name.localeCompare(b.name)),
  )
  return {
    byId,
    items,
    loaded,
    /** Returns the runners that take runs of a project. */
    ofProject: (projectId: string): readonly Runner[] =>
      items.value.filter(({ projects }) => projects === null || projects.some((id) => id === projectId)),
    /** Returns a runner unless it is this machine, which needs no mention, or unknown. */
    elsewhere: (runnerId: string | null | undefined): Runner | null => {
      const runner = byId.get(runnerId ?? '')
      return runner === undefined || isHere(runner) ? null : runner
    },
    /** Returns the names of the runners that are known among these. */
    namesOf: (ids: readonly string[] | undefined): readonly string[] =>
      (ids ?? []).flatMap((id) => byId.get(id)?.name ?? []),
    put: (runnerId: string, runner: Runner | null): void => (runner ? put(runner) : remove(runnerId)),
    load: (): Promise<void> => replace(() => client.call('runners.list', {})),
    /** Returns a runner with its configuration, which events leave out. */
    fetch: (runnerId: string): Promise<Runner> => take(() => client.call('runners.get', { runner_id: runnerId })),
    create: (input: OperationInput<'runners.create'>): Promise<Runner> =>
      take(() => client.call('runners.create', input)),
    update: (input: OperationInput<'runners.update'>): Promise<Runner> =>
      take(() => client.call('runners.update', input)),
    /** Checks a runner. Its new state arrives as an event, too. */
    check: async (runnerId: string): Promise<readonly RunnerCheckStep[]> => {
      let found: readonly RunnerCheckStep[] = []
      await take(async () => {
        const { runner, steps } = await client.call('runners.check', { runner_id: runnerId })
        found = steps
        return runner
      })
      return found
    },
    /** Lets the dev container of a project reach the machine of a runner. */
    trust: async (content: OperationInput<'runners.trust'>): Promise<void> => {
      await client.call('runners.trust', content)
    },
    delete: async (runnerId: string): Promise<void> => {
      await client.call('runners.delete', { runner_id: runnerId })
      remove(runnerId)
    },
  }
})
