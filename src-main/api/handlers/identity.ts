import { z } from 'zod'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { SecurityEventType, Session } from '../../../src-shared/contract/identity.ts'
import type { UserId } from '../../../src-shared/contract/ids.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { CallContext } from '../api.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findAgent, throwNotFound } from '../find.ts'
import { pageOf, cursorFor } from '../pages.ts'
import { sourceOf } from '../source-of.ts'

type Names =
  | 'auth.register'
  | 'auth.login'
  | 'auth.options'
  | 'auth.local'
  | 'auth.refresh'
  | 'auth.resume'
  | 'auth.logout'
  | 'auth.me'
  | 'auth.change_password'
  | 'auth.list_sessions'
  | 'auth.delete_session'
  | 'auth.delete_sessions'
  | 'auth.create_token'
  | 'auth.list_tokens'
  | 'auth.delete_token'
  | 'admin.list_users'
  | 'admin.update_user'
  | 'admin.create_reset'
  | 'admin.list_tokens'
  | 'admin.delete_token'
  | 'admin.create_invite'
  | 'admin.list_invites'
  | 'admin.delete_invite'
  | 'admin.security_log'

/** The cursor of the security log. */
const Cursor = z.object({ id: z.string() })

export function createIdentityHandlers({ identity, store, feed }: ApiParts): Handlers<Names> {
  const note = (
    call: CallContext,
    type: SecurityEventType,
    user_id: UserId | null,
    details: Readonly<Record<string, unknown>> = {},
  ) => identity.securityLog.note({ type, user_id, actor: actorOf(call.principal), source: sourceOf(call), details })
  const remembered = (session: Session, isWanted: boolean, { cookie }: CallContext): Session => {
    if (isWanted) cookie?.write(identity.sessions.remember(session.refresh_token))
    // An earlier person's cookie would sign this browser in as them.
    else if (cookie?.read() != null) cookie.write(null)
    return session
  }
  const requireAccount = (user_id: UserId) => identity.users.get(user_id)?.id ?? throwNotFound('user')
  return {
    'auth.register': async ({ remember = false, ...input }, call) =>
      remembered(await identity.register(input, sourceOf(call)), remember, call),
    'auth.login': async ({ remember = false, ...input }, call) =>
      remembered(await identity.login(input, sourceOf(call)), remember, call),
    'auth.resume': async (_input, call) => {
      const { session, cookie } = await identity.sessions.resume(call.cookie?.read() ?? '', sourceOf(call))
      call.cookie?.write(cookie)
      return session
    },
    'auth.options': (_input, call) => identity.authOptions(sourceOf(call)),
    'auth.local': ({ code }) => identity.localSignIn(code),
    'auth.refresh': ({ refresh_token }, call) => identity.refresh(refresh_token, sourceOf(call)),
    'auth.logout': ({ refresh_token }, call) => {
      identity.logout(refresh_token, sourceOf(call))
      call.cookie?.write(null)
      return null
    },
    'auth.me': (_input, { principal }) => {
      const id = principal.kind === 'agent' ? findAgent(store.read, principal.agent_id).owner_id : userIdOf(principal)
      return (id === null ? null : identity.users.get(id)) ?? throwNotFound('user')
    },
    'auth.change_password': async (input, call) => {
      const { principal } = call
      await identity.passwords.changePassword(requireUser(principal), input, sessionOf(principal), sourceOf(call))
      return null
    },
    'auth.list_sessions': (_input, { principal }) => {
      const id = userIdOf(principal)
      return { items: id === null ? [] : identity.sessions.list(id, sessionOf(principal)) }
    },
    'auth.delete_session': ({ session_id }, call) => {
      const id = requireUser(call.principal)
      feed.commit(() => {
        identity.sessions.end(id, session_id)
        note(call, 'session_ended', id, { session_id })
      })
      return null
    },
    'auth.delete_sessions': (_input, call) => {
      const id = requireUser(call.principal)
      feed.commit(() => {
        identity.sessions.endOtherSessions(id, sessionOf(call.principal))
        note(call, 'session_ended', id, { all_others: true })
      })
      return null
    },
    'auth.create_token': (input, call) => {
      const id = requireUser(call.principal)
      return feed.commit(() => {
        const made = identity.tokens.create(id, input)
        const { id: token_id, name, scope, expires_at } = made
        note(call, 'token_created', id, { token_id, name, scope, expires_at })
        return made
      })
    },
    'auth.list_tokens': (_input, { principal }) => {
      const id = userIdOf(principal)
      return { items: id === null ? [] : identity.tokens.list(id) }
    },
    'auth.delete_token': ({ token_id }, call) => {
      const { principal } = call
      const id = requireUser(principal)
      if (principal.kind === 'user' && principal.via === 'pat' && principal.token_id !== token_id) {
        const message = 'A personal access token can only revoke itself. Sign in with your password to revoke another.'
        throw new ApiError({ code: 'jwt_required', message })
      }
      feed.commit(() => {
        const { name } = identity.tokens.delete(id, token_id)
        note(call, 'token_revoked', id, { token_id, name })
      })
      return null
    },
    'admin.list_users': () => ({ items: identity.users.list() }),
    'admin.update_user': ({ user_id, is_admin }, call) =>
      feed.commit((tx) => {
        const before = identity.users.get(user_id)
        const user = identity.users.setAdmin(user_id, is_admin)
        tx.emit('user.updated', { project_id: null, user })
        if (before?.is_admin !== is_admin) note(call, is_admin ? 'admin_granted' : 'admin_revoked', user_id)
        return user
      }),
    'admin.create_reset': ({ user_id }, call) =>
      feed.commit(() => {
        const made = identity.passwords.createReset(user_id)
        note(call, 'reset_created', user_id, { expires_at: made.expires_at })
        return made
      }),
    'admin.list_tokens': ({ user_id }) => ({ items: identity.tokens.list(requireAccount(user_id)) }),
    'admin.delete_token': ({ token_id }, call) => {
      feed.commit(() => {
        const { name, user_id } = identity.tokens.delete(null, token_id)
        note(call, 'token_revoked', user_id, { token_id, name })
      })
      return null
    },
    'admin.create_invite': ({ expires_in_seconds }, call) =>
      feed.commit(() => {
        const made = identity.invites.create(userIdOf(call.principal), expires_in_seconds)
        note(call, 'invite_created', null, { invite_id: made.id, expires_at: made.expires_at })
        return made
      }),
    'admin.list_invites': () => ({ items: identity.invites.list() }),
    'admin.delete_invite': ({ invite_id }, call) => {
      feed.commit(() => {
        identity.invites.delete(invite_id)
        note(call, 'invite_deleted', null, { invite_id })
      })
      return null
    },
    'admin.security_log': ({ cursor, limit }) => {
      const found = identity.securityLog.list(cursorFor(Cursor, cursor)?.id ?? null, limit + 1)
      return pageOf(found, limit, ({ id }) => ({ id }))
    },
  }
}

const sessionOf = (principal: Principal) => (principal.kind === 'user' ? (principal.session_id ?? null) : null)

function userIdOf(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.user_id : null
}

/** Returns the caller's account; throws before the first registration, because tokens and sessions belong to one. */
function requireUser(principal: Principal): UserId {
  const id = userIdOf(principal)
  if (id !== null) return id
  throw new ApiError({
    code: 'forbidden',
    message: 'Register an account first (Settings, Account); this belongs to one.',
  })
}
