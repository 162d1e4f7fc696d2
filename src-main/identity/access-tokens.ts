import { errors, jwtVerify, SignJWT } from 'jose'
import { UserId } from '../../src-shared/contract/ids.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Clock } from '../engine/ports.ts'
import type { UserRecord } from './identity-store.ts'
import { tokenExpired, invalidToken } from './refusals.ts'

/** How long an access token works, in seconds. */
export const accessTokenSeconds = 900

export interface AccessTokens {
  sign(user: UserRecord): Promise<string>
  /** Whose token it is. Throws `ApiError` with `token_expired` or `invalid_token`. */
  verify(token: string): Promise<UserId>
}

/** JSON Web Tokens, HS256 and nothing else. */
export function createAccessTokens(key: Uint8Array, clock: Clock): AccessTokens {
  return {
    sign: (user) => {
      const now = Math.floor(clock.now() / 1_000)
      return new SignJWT({ email: user.email, is_admin: user.is_admin })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(user.id)
        .setIssuedAt(now)
        .setExpirationTime(now + accessTokenSeconds)
        .sign(key)
    },
    verify: async (token) => {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          currentDate: new Date(clock.now()),
          requiredClaims: ['sub', 'email', 'is_admin', 'iat', 'exp'],
        })
        const subject = UserId.safeParse(payload.sub)
        if (!subject.success) throw invalidToken()
        return subject.data
      } catch (error) {
        throw asRefusal(error)
      }
    },
  }
}

function asRefusal(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (error instanceof errors.JWTExpired) return tokenExpired({ cause: error })
  return error instanceof errors.JOSEError ? invalidToken({ cause: error }) : error
}
