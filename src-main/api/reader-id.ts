import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Principal } from '../domain/access/principal.ts'

/** Returns the ID for read and viewed marks; before the first registration, the local operator's. */
export function readerId(principal: Principal): string {
  return principal.kind === 'user' ? principal.user_id : 'operator'
}

/** Returns the account ID for events; null for the local operator. */
export function userOf(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.user_id : null
}
