import { randomUUID } from 'node:crypto'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Session, User } from '../../src-shared/contract/identity.ts'
import type { AccessTokens } from './access-tokens.ts'
import { accessTokenSeconds } from './access-tokens.ts'
import type { IdentityContext } from './context.ts'
import type { UserRecord } from './identity-store.ts'
import type { LoginLimits } from './login-limits.ts'
import { hashToken } from './opaque-tokens.ts'
import type { Passwords } from './passwords.ts'
import { invalidCredentials } from './refusals.ts'

const refreshTokenMs = 7 * 24 * 60 * 60_000

export interface Sessions {
  /** A refresh token that starts a family of its own; call it inside the transaction that lets the person in. */
  open(user: UserRecord): string
  answer(user: UserRecord, refreshToken: string): Promise<Session>
  login(input: { email: string; password: string }, address: string | null): Promise<Session>
  refresh(refreshToken: string): Promise<Session>
  /** Ends the token's whole family; harmless for an unknown token. */
  logout(refreshToken: string): void
}

interface SessionParts {
  readonly passwords: Passwords
  readonly accessTokens: AccessTokens
  readonly limits: LoginLimits
}

/** Signing in with a password, and staying signed in. */
export function createSessions(context: IdentityContext, parts: SessionParts): Sessions {
  const { store, clock } = context
  const issue = (user: UserRecord, family_id: string): string => {
    const token = randomUUID()
    store.refreshTokens.insert({
      token_hash: hashToken(token),
      family_id,
      user_id: user.id,
      created_at: context.nowIso(),
      expires_at: new Date(clock.now() + refreshTokenMs).toISOString(),
      rotated_at: null,
    })
    return token
  }
  const answer = async (user: UserRecord, refreshToken: string): Promise<Session> => ({
    user: userView(user),
    access_token: await parts.accessTokens.sign(user),
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
  })
  const open = (user: UserRecord) => issue(user, context.newId())
  return {
    open,
    answer,
    login: async ({ email, password }, address) => {
      const attempt = parts.limits.begin(address, email)
      const user = store.users.findByEmail(email)
      const matches = await parts.passwords.verify(password, user?.password_hash ?? null)
      if (!user || !matches) throw invalidCredentials()
      attempt.succeeded()
      return answer(user, open(user))
    },
    refresh: async (refreshToken) => {
      const rotated = store.transaction(() => rotate(context, refreshToken, issue))
      if (rotated instanceof ApiError) throw rotated
      return answer(rotated.user, rotated.token)
    },
    logout: (refreshToken) => {
      const row = store.refreshTokens.find(hashToken(refreshToken))
      if (row) store.refreshTokens.deleteFamily(row.family_id)
    },
  }
}

/** Answers its refusal as a value: thrown, it would roll the family's revocation back. */
function rotate(
  { store, nowIso }: IdentityContext,
  refreshToken: string,
  issue: (user: UserRecord, family_id: string) => string,
): ApiError | { readonly user: UserRecord; readonly token: string } {
  store.refreshTokens.deleteExpired(nowIso())
  const row = store.refreshTokens.find(hashToken(refreshToken))
  const user = row && store.users.find(row.user_id)
  if (!row || !user) {
    return new ApiError({ code: 'invalid_refresh_token', message: 'This refresh token is not valid. Sign in again.' })
  }
  if (row.rotated_at !== null) {
    store.refreshTokens.deleteFamily(row.family_id)
    return new ApiError({
      code: 'refresh_token_reused',
      message: 'This refresh token was used before, so its whole session was ended. Sign in again.',
    })
  }
  store.refreshTokens.markRotated(row.token_hash, nowIso())
  return { user, token: issue(user, row.family_id) }
}

/** What others may see of a person. */
export function userView(user: UserRecord): User {
  const { password_hash: _, ...view } = user
  return view
}
