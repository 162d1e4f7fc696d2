import type { UserId } from '../../src-shared/contract/ids.ts'
import type { Principal } from '../domain/access/principal.ts'

/** Whose marks (read, viewed) count; before anybody has registered they are the local operator's. */
export function readerId(principal: Principal): string {
  return principal.kind === 'user' ? principal.user_id : 'operator'
}

/** Who that is in an event: null stands for the local operator. */
export function userOf(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.user_id : null
}
