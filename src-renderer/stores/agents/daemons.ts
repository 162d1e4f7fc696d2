import { defineStore } from 'pinia'
import { computed } from 'vue'
import type { Daemon } from '../../../src-shared/contract/daemons.ts'
import { useClient } from '../base/client.ts'
import { createEntityStore } from '../base/entity-store.ts'

/** Other machines that host agents for the person. */
export const useDaemons = defineStore('daemons', () => {
  const client = useClient()
  const { byId, loaded, put, remove, replace } = createEntityStore<Daemon>()
  return {
    items: computed(() => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name))),
    loaded,
    put: (daemonId: string, daemon: Daemon | null): void => (daemon ? put(daemon) : remove(daemonId)),
    load: (): Promise<void> => replace(() => client.call('daemons.list', {})),
    /** Creates a daemon and returns its token, which the service never shows again. */
    create: async (name: string): Promise<string> => {
      const { daemon, token } = await client.call('daemons.create', { name })
      put(daemon)
      return token
    },
    revoke: async (daemonId: string): Promise<void> => {
      await client.call('daemons.delete', { daemon_id: daemonId })
      remove(daemonId)
    },
  }
})
