import { errors, jwtVerify, SignJWT } from 'jose'
import { SessionId, UserId } from '../../src-shared/contract/ids.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { UserRecord } from './identity-store.ts'
import { hashToken } from './opaque-tokens.ts'
import { tokenExpired, invalidToken } from './refusals.ts'

/** Lifetime of an access token, in seconds. */
export const accessTokenSeconds = 900

export interface AccessTokens {
  sign(user: UserRecord, session_id: SessionId): Promise<string>
  /**
   * Returns a token's user and session, which may have ended since. Throws `ApiError` with `token_expired`, or
   * `invalid_token` also for one without a session.
   */
  verify(token: string): Promise<Bearer>
}

interface Bearer {
  readonly user_id: UserId
  readonly session_id: SessionId
}

/** A token with a valid signature. Cached, because checking it again costs more than the rest of a small request. */
interface Verified extends Bearer {
  /** Seconds since 1970. */
  readonly expires: number
}

const maxVerified = 1_000

/** Creates and verifies JSON Web Tokens, HS256 only. */
export function createAccessTokens(key: Uint8Array, clock: Clock): AccessTokens {
  /** By the token's hash, so that no token is kept in memory. */
  const verified = new Map<string, Verified>()
  return {
    sign: (user, session_id) => {
      const now = Math.floor(clock.now() / 1_000)
      return new SignJWT({ email: user.email, is_admin: user.is_admin, sid: session_id })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(user.id)
        .setIssuedAt(now)
        .setExpirationTime(now + accessTokenSeconds)
        .sign(key)
    },
    verify: async (token) => {
      const hash = hashToken(token)
      const known = verified.get(hash)
      if (known) return stillValid(known, clock)
      if (!isCanonical(token)) throw invalidToken()
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          currentDate: new Date(clock.now()),
          requiredClaims: ['sub', 'email', 'is_admin', 'sid', 'iat', 'exp'],
        })
        const subject = UserId.safeParse(payload.sub)
        const session = SessionId.safeParse(payload['sid'])
        if (!subject.success || !session.success || payload.exp === undefined) throw invalidToken()
        const bearer = { user_id: subject.data, session_id: session.data }
        if (verified.size >= maxVerified) verified.clear()
        // Only a token without a start time can be judged by its end alone.
        if (payload.nbf === undefined) verified.set(hash, { ...bearer, expires: payload.exp })
        return bearer
      } catch (error) {
        throw asRefusal(error)
      }
    },
  }
}

/** Returns whether a token is the only spelling of its bytes; decoders ignore padding and the last unused bits. */
function isCanonical(token: string): boolean {
  const parts = token.split('.')
  return parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}

/** Judges as `jwtVerify` does: a token ends with the second that its `exp` names. */
function stillValid(verified: Verified, clock: Clock): Bearer {
  if (verified.expires <= Math.floor(clock.now() / 1_000)) throw tokenExpired()
  return verified
}

function asRefusal(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (error instanceof errors.JWTExpired) return tokenExpired({ cause: error })
  return error instanceof errors.JOSEError ? invalidToken({ cause: error }) : error
}
