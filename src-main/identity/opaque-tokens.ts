import { hash, randomBytes } from 'node:crypto'

/**
 * Tokens without content: personal and agent-bound ones (`svc`), daemons' (`svcd`), and the local operator's
 * (`local`).
 */
export type OpaqueKind = 'svc' | 'svcd' | 'local'

/** Returns a new token: its kind and 32 random bytes as 43 base64url characters. */
export function createOpaqueToken(kind: OpaqueKind): string {
  return `${kind}_${createSecret()}`
}

/** Returns 32 random bytes as 43 base64url characters. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns which kind of opaque token this looks like, or null. */
export function opaqueKindOf(token: string): OpaqueKind | null {
  const match = /^(svcd?|local)_[\w-]{43}$/.exec(token)
  return match ? (match[1] as OpaqueKind) : null
}

/** Returns the stored hash of a token. Plain SHA-256 suffices for 256 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}
