import type { UserId } from '../../../src-shared/contract/ids.ts'
import { isAdmin, type Principal } from './principal.ts'

/** Returns whether a caller sees a daemon and may revoke it: its owner and admins may. */
export function mayManageDaemon(principal: Principal, daemon: { readonly owner_id: UserId | null }): boolean {
  return isAdmin(principal) || (principal.kind === 'user' && principal.user_id === daemon.owner_id)
}
