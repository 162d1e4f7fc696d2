import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { PersonalAccessToken, User } from '../../../src-shared/contract/identity.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { SystemInfo } from '../../../src-shared/contract/system.ts'
import { useConnection } from './client.ts'

/** The signed-in user, and the information about this installation. */
export const useSession = defineStore('session', () => {
  const { client, session, desktop } = useConnection()
  const state = shallowRef(session.state)
  const me = shallowRef<User | null>(null)
  const system = shallowRef<SystemInfo | null>(null)
  const tokens = shallowRef<readonly PersonalAccessToken[]>([])
  session.onChange(() => {
    state.value = session.state
    if (session.state.kind !== 'signed_out') return
    me.value = null
    tokens.value = []
  })

  async function load(): Promise<void> {
    const info = await client.call('system.get', {})
    system.value = info
    // Before the first registration the local operator has no account.
    me.value = info.registered ? await client.call('auth.me', {}) : null
  }
  return {
    state,
    me,
    system,
    tokens,
    /** Whether the current user manages this installation. The local operator does. */
    isAdmin: computed(() => system.value?.local_operator === true || me.value?.is_admin === true),
    /** The current user's display name. */
    myName: computed(() => me.value?.display_name ?? 'You'),
    load,
    /** Returns whether there is an account yet, and whether one can be made here. */
    options: () => client.call('auth.options', {}),
    login: (input: OperationInput<'auth.login'>) => session.login(input),
    /** Creates an account. A browser is signed in with it; in the desktop window the user stays the local operator. */
    register: async (input: OperationInput<'auth.register'>): Promise<void> => {
      if (desktop) await client.call('auth.register', input)
      else await session.register(input)
      await load()
    },
    /** The invite code from the page's address. */
    invite: session.invite,
    logout: () => session.logout(),
    loadTokens: async (): Promise<void> => {
      tokens.value = (await client.call('auth.list_tokens', {})).items
    },
    createToken: async (
      wanted: OperationInput<'auth.create_token'>,
    ): Promise<{ readonly name: string; readonly token: string }> => {
      const { token, ...made } = await client.call('auth.create_token', wanted)
      tokens.value = [{ ...made, last_used_at: null }, ...tokens.value]
      return { name: made.name, token }
    },
    deleteToken: async (tokenId: string): Promise<void> => {
      await client.call('auth.delete_token', { token_id: tokenId })
      tokens.value = tokens.value.filter((token) => token.id !== tokenId)
    },
  }
})
