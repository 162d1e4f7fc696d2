import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Invite } from '../../src-shared/contract/identity.ts'
import { InviteId, type UserId } from '../../src-shared/contract/ids.ts'
import type { IdentityContext } from './context.ts'
import { createSecret, hashToken } from './opaque-tokens.ts'

export interface Invites {
  /** Returns the code, which is not stored. Throws `not_registered` before the first registration. */
  create(created_by: UserId | null, seconds: number): { id: InviteId; code: string; expires_at: string }
  /** Lists valid invites, newest first. */
  list(): Invite[]
  /** Throws `not_found`. */
  delete(id: InviteId): void
  /** Returns the invite of a code, if it is valid. */
  find(code: string): InviteId | null
}

/** Manages codes that let one person register each. */
export function createInvites({ store, clock, newId, nowIso }: IdentityContext): Invites {
  return {
    create: (created_by, seconds) => {
      if (created_by === null) {
        throw new ApiError({
          code: 'not_registered',
          message: 'No one has an account yet. Create the first one, then invite others.',
        })
      }
      const code = createSecret()
      const id = InviteId.parse(newId())
      const expires_at = new Date(clock.now() + seconds * 1_000).toISOString()
      store.invites.insert({ id, code_hash: hashToken(code), created_by, created_at: nowIso(), expires_at })
      return { id, code, expires_at }
    },
    list: () => store.invites.list(nowIso()).map(({ code_hash: _, ...invite }) => invite),
    delete: (id) => {
      if (store.invites.list(nowIso()).some((invite) => invite.id === id) && store.invites.delete(id)) return
      throw new ApiError({
        code: 'not_found',
        message: "This invite doesn't exist: it was used, withdrawn, or has expired.",
        details: { resource: 'invite' },
      })
    },
    find: (code) => {
      const invite = store.invites.findByCode(hashToken(code))
      return invite && invite.expires_at > nowIso() ? invite.id : null
    },
  }
}
