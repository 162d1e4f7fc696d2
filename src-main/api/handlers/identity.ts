import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { UserId } from '../../../src-shared/contract/ids.ts'
import type { Principal } from '../../domain/access/principal.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findAgent, missing } from '../find.ts'

type Names =
  | 'auth.register'
  | 'auth.login'
  | 'auth.local'
  | 'auth.refresh'
  | 'auth.logout'
  | 'auth.me'
  | 'auth.create_token'
  | 'auth.list_tokens'
  | 'auth.delete_token'
  | 'admin.list_users'
  | 'admin.update_user'

export function createIdentityHandlers({ identity, store, feed }: ApiParts): Handlers<Names> {
  return {
    'auth.register': (input) => identity.register(input),
    'auth.login': (input, { remote_address }) => identity.login(input, remote_address),
    'auth.local': ({ code }) => identity.localSignIn(code),
    'auth.refresh': ({ refresh_token }) => identity.refresh(refresh_token),
    'auth.logout': ({ refresh_token }) => {
      identity.logout(refresh_token)
      return null
    },
    'auth.me': (_input, { principal }) => {
      const id = principal.kind === 'agent' ? findAgent(store.read, principal.agent_id).owner_id : userIdOf(principal)
      return (id === null ? null : identity.users.get(id)) ?? missing('user')
    },
    'auth.create_token': ({ name }, { principal }) => identity.tokens.create(requireUser(principal), name),
    'auth.list_tokens': (_input, { principal }) => {
      const id = userIdOf(principal)
      return { items: id === null ? [] : identity.tokens.list(id) }
    },
    'auth.delete_token': ({ token_id }, { principal }) => {
      identity.tokens.delete(requireUser(principal), token_id)
      return null
    },
    'admin.list_users': () => ({ items: identity.users.list() }),
    'admin.update_user': ({ user_id, is_admin }) =>
      feed.commit((tx) => {
        const user = identity.users.setAdmin(user_id, is_admin)
        tx.emit('user.updated', { project_id: null, user })
        return user
      }),
  }
}

function userIdOf(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.user_id : null
}

/** Tokens belong to an account, and before anybody has registered there is none. */
function requireUser(principal: Principal): UserId {
  const id = userIdOf(principal)
  if (id !== null) return id
  throw new ApiError({
    code: 'forbidden',
    message: 'Register an account first (Settings, Account); tokens belong to it.',
  })
}
