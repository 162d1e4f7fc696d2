import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Session } from '../../src-shared/contract/identity.ts'
import type { SessionId, UserId } from '../../src-shared/contract/ids.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import { badPassword, refuseCommonPassword } from './common-passwords.ts'
import type { IdentityContext } from './context.ts'
import type { UserRecord } from './identity-store.ts'
import type { LoginLimits } from './login-limits.ts'
import { createSecret, hashToken } from './opaque-tokens.ts'
import type { Passwords } from './passwords.ts'
import { invalidCredentials } from './refusals.ts'
import type { SecurityLog } from './security-log.ts'
import type { Sessions } from './sessions.ts'

const resetMs = 60 * 60_000

export interface Credentials {
  readonly email: string
  readonly password?: string | undefined
  readonly reset_code?: string | undefined
  readonly new_password?: string | undefined
}

export interface SignIn {
  /** Signs in with the password, or with a reset code and the new password. */
  login(input: Credentials, source: RequestSource): Promise<Session>
  /**
   * Changes the password and ends all of the person's sessions but `current`. Throws `invalid_credentials` and
   * `validation_failed`.
   */
  changePassword(
    user_id: UserId,
    input: { readonly current_password: string; readonly new_password: string },
    current: SessionId | null,
    source: RequestSource,
  ): Promise<void>
  /** Creates a code for a user who has lost their password and voids an earlier one. Throws `not_found`. */
  createReset(user_id: UserId): { code: string; expires_at: string }
}

interface SignInParts {
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly limits: LoginLimits
  readonly log: SecurityLog
}

/** Signs in by password, changes it, and resets a lost one. */
export function createSignIn(context: IdentityContext, parts: SignInParts): SignIn {
  const { store, clock, nowIso } = context
  const { passwords, sessions, limits, log } = parts
  const begin = (email: string, source: RequestSource) =>
    limits.begin(source.address, email, () => {
      const user = store.users.findByEmail(email)
      return user !== null && source.address !== null && store.securityLog.hasSignedInFrom(user.id, source.address)
    })
  const failed = (user: UserRecord | null, source: RequestSource, how: 'password' | 'reset_code'): ApiError => {
    // An unknown email is not logged: people type passwords into that field.
    log.note({
      type: 'sign_in_failed',
      user_id: user?.id ?? null,
      actor: 'user:anonymous',
      source,
      details: { with: how },
    })
    return invalidCredentials()
  }
  const enter = (user: UserRecord, source: RequestSource, how: 'password' | 'reset_code') => {
    const about = { user_id: user.id, actor: `user:${user.handle}`, source }
    if (how === 'reset_code') log.note({ type: 'reset_used', ...about })
    log.note({ type: 'signed_in', ...about, details: { with: how } })
    return sessions.open(user, source)
  }

  const byPassword = async (email: string, password: string, source: RequestSource): Promise<Session> => {
    const attempt = begin(email, source)
    const user = store.users.findByEmail(email)
    const matches = await passwords.verify(password, user?.password_hash ?? null)
    if (!user || !matches) throw failed(user, source, 'password')
    // The password may have changed during the comparison, which ended the old one's sessions.
    if (store.users.find(user.id)?.password_hash !== user.password_hash) throw failed(user, source, 'password')
    attempt.succeeded()
    return sessions.answer(
      user,
      store.transaction(() => enter(user, source, 'password')),
    )
  }

  const isReset = (user: UserRecord | null, code: string): user is UserRecord => {
    const reset = user && store.resets.find(user.id)
    return reset?.code_hash === hashToken(code) && reset.expires_at > nowIso()
  }
  const byReset = async (email: string, code: string, password: string, source: RequestSource): Promise<Session> => {
    await refuseCommonPassword(password, 'new_password')
    const attempt = begin(email, source)
    const user = store.users.findByEmail(email)
    // Takes as long whether the account or the code exists or not.
    const password_hash = await passwords.hash(password)
    const opened = store.transaction(() => {
      if (!isReset(user, code)) return null
      store.resets.delete(user.id)
      store.users.setPasswordHash(user.id, password_hash)
      sessions.endOtherSessions(user.id, null)
      return { user, session: enter(user, source, 'reset_code') }
    })
    if (opened === null) throw failed(user, source, 'reset_code')
    attempt.succeeded()
    return sessions.answer(opened.user, opened.session)
  }

  return {
    login: ({ email, password, reset_code, new_password }, source) =>
      reset_code !== undefined && new_password !== undefined
        ? byReset(email, reset_code, new_password, source)
        : byPassword(email, password ?? '', source),
    changePassword: async (user_id, { current_password, new_password }, current, source) => {
      await refuseCommonPassword(new_password, 'new_password')
      const user = store.users.find(user_id)
      if (!user) throw invalidCredentials()
      const attempt = begin(user.email, source)
      const about = { user_id, actor: `user:${user.handle}`, source }
      const wrong = () => {
        log.note({ type: 'password_change_failed', ...about })
        return new ApiError({ code: 'invalid_credentials', message: 'The current password is wrong.' })
      }
      if (!(await passwords.verify(current_password, user.password_hash))) throw wrong()
      attempt.succeeded()
      if (new_password === current_password) {
        throw badPassword('new_password', 'This is the password that you have. Choose another.')
      }
      const password_hash = await passwords.hash(new_password)
      store.transaction(() => {
        if (store.users.find(user_id)?.password_hash !== user.password_hash) throw wrong()
        store.users.setPasswordHash(user_id, password_hash)
        store.resets.delete(user_id)
        sessions.endOtherSessions(user_id, current)
        log.note({ type: 'password_changed', ...about })
      })
    },
    createReset: (user_id) => {
      if (!store.users.find(user_id)) {
        throw new ApiError({ code: 'not_found', message: "This user doesn't exist.", details: { resource: 'user' } })
      }
      const code = createSecret()
      const expires_at = new Date(clock.now() + resetMs).toISOString()
      store.resets.put({ user_id, code_hash: hashToken(code), expires_at })
      return { code, expires_at }
    },
  }
}
