import { hash, randomBytes } from 'node:crypto'

/** Tokens that carry nothing: personal and agent-bound ones (`svc`), daemons' (`svcd`), and the local operator's (`local`). */
export type OpaqueKind = 'svc' | 'svcd' | 'local'

/** A new token: its kind and 32 random bytes as 43 base64url characters. */
export function createOpaqueToken(kind: OpaqueKind): string {
  return `${kind}_${createSecret()}`
}

/** 32 random bytes as 43 base64url characters. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Which kind of opaque token this looks like; null for anything else. */
export function opaqueKindOf(token: string): OpaqueKind | null {
  const match = /^(svcd?|local)_[\w-]{43}$/.exec(token)
  return match ? (match[1] as OpaqueKind) : null
}

/** What is kept of a token. It has 256 random bits, so a plain SHA-256 tells nothing about it. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}
