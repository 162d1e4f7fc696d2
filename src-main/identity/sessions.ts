import { randomUUID } from 'node:crypto'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { rememberedDays, type ActiveSession, type Session, type User } from '../../src-shared/contract/identity.ts'
import { SessionId, type UserId } from '../../src-shared/contract/ids.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import type { AccessTokens } from './access-tokens.ts'
import { accessTokenSeconds } from './access-tokens.ts'
import type { IdentityContext } from './context.ts'
import type { UserRecord } from './identity-store.ts'
import { createSecret, hashToken } from './opaque-tokens.ts'
import { clientOf, type SecurityLog } from './security-log.ts'

const dayMs = 24 * 60 * 60_000
const refreshTokenMs = 7 * dayMs

/** A started or renewed session. */
interface Opened {
  readonly session_id: SessionId
  readonly refresh_token: string
}

export interface Sessions {
  /** Starts a session; must run inside the transaction that checks the credentials. */
  open(user: UserRecord, source: RequestSource): Opened
  answer(user: UserRecord, opened: Opened): Promise<Session>
  refresh(refreshToken: string, source: RequestSource): Promise<Session>
  /** Returns the value of a cookie that goes on with the session of a refresh token, once, within 30 days. */
  remember(refreshToken: string): string
  /** Exchanges a cookie for a new pair of the same session and the next cookie. A second use ends the session. */
  resume(cookie: string, source: RequestSource): Promise<{ readonly session: Session; readonly cookie: string }>
  /** Ends the token's session; harmless for an unknown token. */
  logout(refreshToken: string, source: RequestSource): void
  /** Returns whether a session is active, and saves its time of use. */
  isOpen(session_id: SessionId, user_id: UserId): boolean
  /** Newest first. `current`: the caller's own session. */
  list(user_id: UserId, current: SessionId | null): ActiveSession[]
  /** Ends one of a person's sessions. Throws `not_found`, and `forbidden` for another person's. */
  end(user_id: UserId, session_id: SessionId): void
  /** Ends all of a person's sessions, or all but one. */
  endOtherSessions(user_id: UserId, but: SessionId | null): void
}

/** Manages sessions, each with the chain of its refresh tokens. */
export function createSessions(
  context: IdentityContext,
  { accessTokens, log }: { readonly accessTokens: AccessTokens; readonly log: SecurityLog },
): Sessions {
  const { store, clock, nowIso, noteUse } = context
  const issue = (user: UserRecord, family_id: SessionId, source: RequestSource): Opened => {
    const refresh_token = randomUUID()
    const now = nowIso()
    const expires_at = new Date(clock.now() + refreshTokenMs).toISOString()
    store.refreshTokens.insert({
      token_hash: hashToken(refresh_token),
      family_id,
      user_id: user.id,
      created_at: now,
      expires_at,
      rotated_at: null,
    })
    const known = store.sessions.find(family_id)
    const created_at = known?.created_at ?? now
    const seen = { last_used_at: now, address: source.address, client: clientOf(source) }
    // A remembered session lives as long as its cookie.
    const ends = known && known.expires_at > expires_at ? known.expires_at : expires_at
    store.sessions.put({ id: family_id, user_id: user.id, created_at, expires_at: ends, ...seen })
    return { session_id: family_id, refresh_token }
  }
  const answer = async (user: UserRecord, { session_id, refresh_token }: Opened): Promise<Session> => ({
    user: userView(user),
    access_token: await accessTokens.sign(user, session_id),
    refresh_token,
    token_type: 'Bearer',
    expires_in: accessTokenSeconds,
  })
  const issueCookie = (family_id: SessionId, user_id: UserId): string => {
    const cookie = createSecret()
    const expires_at = new Date(clock.now() + rememberedDays * dayMs).toISOString()
    const created_at = nowIso()
    store.refreshTokens.insert({
      token_hash: hashCookie(cookie),
      family_id,
      user_id,
      created_at,
      expires_at,
      rotated_at: null,
    })
    const session = store.sessions.find(family_id)
    if (session) store.sessions.put({ ...session, expires_at })
    return cookie
  }
  return {
    open: (user, source) => issue(user, SessionId.parse(context.newId()), source),
    answer,
    refresh: async (refreshToken, source) => {
      const rotated = store.transaction(() => rotate(context, log, hashToken(refreshToken), source, issue))
      if (rotated instanceof ApiError) throw rotated
      return answer(rotated.user, rotated.opened)
    },
    remember: (refreshToken) => {
      const row = store.refreshTokens.find(hashToken(refreshToken))
      if (!row) throw invalidRefreshToken()
      return store.transaction(() => issueCookie(row.family_id, row.user_id))
    },
    resume: async (cookie, source) => {
      const resumed = store.transaction(() => {
        const rotated = rotate(context, log, hashCookie(cookie), source, issue)
        if (rotated instanceof ApiError) return rotated
        return { ...rotated, next: issueCookie(rotated.opened.session_id, rotated.user.id) }
      })
      if (resumed instanceof ApiError) throw resumed
      return { session: await answer(resumed.user, resumed.opened), cookie: resumed.next }
    },
    logout: (refreshToken, source) => {
      const row = store.refreshTokens.find(hashToken(refreshToken))
      const user = row && store.users.find(row.user_id)
      if (!row || !user) return
      store.transaction(() => {
        store.sessions.delete(row.family_id)
        log.note({ type: 'signed_out', user_id: user.id, actor: `user:${user.handle}`, source })
      })
    },
    isOpen: (session_id, user_id) => {
      const session = store.sessions.find(session_id)
      if (session?.user_id !== user_id || Date.parse(session.expires_at) <= clock.now()) return false
      noteUse(session.last_used_at, (last_used_at) => {
        store.sessions.touch(session_id, { last_used_at })
      })
      return true
    },
    list: (user_id, current) =>
      store.sessions
        .list(user_id)
        .filter(({ expires_at }) => expires_at > nowIso())
        .map(({ user_id: _, expires_at: __, ...session }) => ({ ...session, current: session.id === current })),
    end: (user_id, session_id) => {
      const session = store.sessions.find(session_id)
      if (!session || session.expires_at <= nowIso()) {
        throw new ApiError({
          code: 'not_found',
          message: "This session doesn't exist or has ended. List yours with GET /auth/sessions.",
          details: { resource: 'session' },
        })
      }
      if (session.user_id !== user_id) {
        throw new ApiError({ code: 'forbidden', message: 'Only its owner can end a session.' })
      }
      store.sessions.delete(session_id)
    },
    endOtherSessions: (user_id, but) => {
      store.sessions.deleteOf(user_id, but)
    },
  }
}

const invalidRefreshToken = () =>
  new ApiError({ code: 'invalid_refresh_token', message: 'This session can’t be continued. Sign in again.' })

/** A cookie is no refresh token, nor the reverse, so their hashes differ. */
const hashCookie = (cookie: string): string => hashToken(`svc_session ${cookie}`)

/** Returns a refusal as a value: throwing would roll back the end of the session. */
function rotate(
  { store, nowIso }: IdentityContext,
  log: SecurityLog,
  tokenHash: string,
  source: RequestSource,
  issue: (user: UserRecord, family_id: SessionId, source: RequestSource) => Opened,
): ApiError | { readonly user: UserRecord; readonly opened: Opened } {
  store.refreshTokens.deleteExpired(nowIso())
  store.sessions.deleteExpired(nowIso())
  const row = store.refreshTokens.find(tokenHash)
  const user = row && store.users.find(row.user_id)
  if (!row || !user) return invalidRefreshToken()
  if (row.rotated_at !== null) {
    store.sessions.delete(row.family_id)
    const details = { session_id: row.family_id }
    log.note({ type: 'refresh_token_reused', user_id: user.id, actor: 'user:anonymous', source, details })
    return new ApiError({
      code: 'refresh_token_reused',
      message: 'This refresh token was used before, so its whole session was ended. Sign in again.',
    })
  }
  store.refreshTokens.markRotated(row.token_hash, nowIso())
  return { user, opened: issue(user, row.family_id, source) }
}

/** Returns the fields of a person that others may see. */
export function userView(user: UserRecord): User {
  const { password_hash: _, ...view } = user
  return view
}
