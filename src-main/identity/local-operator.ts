import type { Clock } from '../ports/clock.ts'
import { createOpaqueToken, createSecret, hashToken } from './opaque-tokens.ts'
import { invalidToken, tokenExpired } from './refusals.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'

const codeMs = 2 * 60_000
/** How long a page stays signed in as the local operator, in seconds. */
export const localSessionSeconds = 12 * 60 * 60

export interface LocalOperator {
  /** Creates a code that signs one page in, once, within two minutes. */
  createCode(): string
  /** Exchanges a code for a session token. Throws `invalid_credentials` for any but a fresh code. */
  signIn(code: string): string
  /** Throws `ApiError` unless this token is valid. */
  check(token: string): void
}

/** Keeps codes and sessions in memory: a restart ends them all. */
export function createLocalOperator(clock: Clock): LocalOperator {
  const codes = new Map<string, number>()
  const sessions = new Map<string, number>()
  return {
    createCode: () => {
      forgetExpired(codes, clock.now())
      const code = createSecret()
      codes.set(hashToken(code), clock.now() + codeMs)
      return code
    },
    signIn: (code) => {
      const hash = hashToken(code)
      const expires = codes.get(hash)
      codes.delete(hash)
      if (expires === undefined || expires <= clock.now()) {
        throw new ApiError({
          code: 'invalid_credentials',
          message:
            'This code was used or is older than two minutes. Press Enter where Copse was started, or start it again, for a new one.',
        })
      }
      forgetExpired(sessions, clock.now())
      const token = createOpaqueToken('local')
      sessions.set(hashToken(token), clock.now() + localSessionSeconds * 1_000)
      return token
    },
    check: (token) => {
      const expires = sessions.get(hashToken(token))
      if (expires === undefined) throw invalidToken()
      if (expires <= clock.now()) throw tokenExpired()
    },
  }
}

function forgetExpired(entries: Map<string, number>, now: number): void {
  for (const [key, expires] of entries) if (expires <= now) entries.delete(key)
}
