import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type { Invite, PersonalAccessToken, SecurityLogEntry } from '../../../../src-shared/contract/identity.ts'
import { useClient } from '../../../stores/base/client.ts'

/** The actions of administrators on accounts of others. */
export const useAdministration = defineStore('administration', () => {
  const client = useClient()
  const invites = shallowRef<readonly Invite[] | null>(null)
  const log = shallowRef<readonly SecurityLogEntry[] | null>(null)
  const next = shallowRef<string | null>(null)
  const loadInvites = async (): Promise<void> => {
    invites.value = (await client.call('admin.list_invites', {})).items
  }
  return {
    /** Newest first; null until loaded. */
    invites,
    loadInvites,
    /** Creates an invite; resolves to its code, which the service returns only once. */
    invite: async (expires_in_seconds: number): Promise<string> => {
      const { code } = await client.call('admin.create_invite', { expires_in_seconds })
      await loadInvites()
      return code
    },
    takeBack: async (invite_id: string): Promise<void> => {
      await client.call('admin.delete_invite', { invite_id })
      await loadInvites()
    },
    /** Creates a code that signs the user in once without their password. */
    reset: async (user_id: string): Promise<string> => (await client.call('admin.create_reset', { user_id })).code,
    tokensOf: async (user_id: string): Promise<readonly PersonalAccessToken[]> =>
      (await client.call('admin.list_tokens', { user_id })).items,
    revokeToken: async (token_id: string): Promise<void> => {
      await client.call('admin.delete_token', { token_id })
    },
    /** The security log, newest first; null until loaded. */
    log,
    /** The cursor of the next page of the log; null at the end. */
    next,
    loadLog: async (): Promise<void> => {
      const page = await client.call('admin.security_log', {})
      log.value = page.items
      next.value = page.next_cursor
    },
    loadMore: async (): Promise<void> => {
      if (next.value === null) return
      const page = await client.call('admin.security_log', { cursor: next.value })
      log.value = [...(log.value ?? []), ...page.items]
      next.value = page.next_cursor
    },
  }
})
