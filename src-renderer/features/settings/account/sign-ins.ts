import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type { ActiveSession } from '../../../../src-shared/contract/identity.ts'
import { useClient } from '../../../stores/base/client.ts'

/** The sessions and the password of the user. */
export const useSignIns = defineStore('sign-ins', () => {
  const client = useClient()
  const items = shallowRef<readonly ActiveSession[] | null>(null)
  const load = async (): Promise<void> => {
    items.value = (await client.call('auth.list_sessions', {})).items
  }
  return {
    /** Newest first; null until loaded. */
    items,
    load,
    end: async (session_id: string): Promise<void> => {
      await client.call('auth.delete_session', { session_id })
      await load()
    },
    endOthers: async (): Promise<void> => {
      await client.call('auth.delete_sessions', {})
      await load()
    },
    changePassword: async (current_password: string, new_password: string): Promise<void> => {
      await client.call('auth.change_password', { current_password, new_password })
      await load()
    },
  }
})
