import { defineStore } from 'pinia'
import { computed, shallowReactive, shallowRef } from 'vue'
import type { Daemon } from '../../src-shared/contract/daemons.ts'
import { useClient } from './client.ts'

/** Other machines that host agents for the person. */
export const useDaemons = defineStore('daemons', () => {
  const client = useClient()
  const byId = shallowReactive(new Map<string, Daemon>())
  const loaded = shallowRef(false)
  return {
    items: computed(() => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name))),
    loaded,
    put: (daemonId: string, daemon: Daemon | null): void => {
      if (!loaded.value) return
      if (daemon) byId.set(daemonId, daemon)
      else byId.delete(daemonId)
    },
    load: async (): Promise<void> => {
      const { items } = await client.call('daemons.list', {})
      byId.clear()
      for (const daemon of items) byId.set(daemon.id, daemon)
      loaded.value = true
    },
    /** Answers its token, which is told this once. */
    create: async (name: string): Promise<string> => {
      const { daemon, token } = await client.call('daemons.create', { name })
      byId.set(daemon.id, daemon)
      return token
    },
    revoke: async (daemonId: string): Promise<void> => {
      await client.call('daemons.delete', { daemon_id: daemonId })
      byId.delete(daemonId)
    },
  }
})
