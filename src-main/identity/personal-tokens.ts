import { ApiError } from '../../src-shared/contract/errors.ts'
import type { PersonalAccessToken } from '../../src-shared/contract/identity.ts'
import { TokenId } from '../../src-shared/contract/ids.ts'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { IdentityContext } from './context.ts'
import type { ApiTokenRecord } from './identity-store.ts'
import { createOpaqueToken, hashToken } from './opaque-tokens.ts'

export interface PersonalTokens {
  list(user_id: UserId): PersonalAccessToken[]
  /** The token itself is in this answer only. */
  create(user_id: UserId, name: string): Omit<PersonalAccessToken, 'last_used_at'> & { token: string }
  /** Throws `not_found`, or `forbidden` for somebody else's. */
  delete(user_id: UserId, token_id: TokenId): void
}

/** People's own long-lived tokens. */
export function createPersonalTokens({ store, newId, nowIso }: IdentityContext): PersonalTokens {
  return {
    list: (user_id) => store.apiTokens.list(user_id).map(viewOf),
    create: (user_id, name) => {
      const token = createOpaqueToken('svc')
      const row: ApiTokenRecord = {
        id: TokenId.parse(newId()),
        token_hash: hashToken(token),
        user_id,
        name,
        created_at: nowIso(),
        last_used_at: null,
        agent_id: null,
        project_id: null,
        task_id: null,
        execution_id: null,
        revoked_at: null,
      }
      store.apiTokens.insert(row)
      return { token, id: row.id, name, created_at: row.created_at }
    },
    delete: (user_id, token_id) => {
      const row = store.apiTokens.find(token_id)
      if (!row || row.revoked_at !== null || row.user_id === null) {
        throw new ApiError({
          code: 'not_found',
          message: 'There is no such token; list yours with GET /auth/tokens.',
          details: { resource: 'token' },
        })
      }
      if (row.user_id !== user_id) {
        throw new ApiError({ code: 'forbidden', message: 'Only its owner can revoke a token.' })
      }
      store.apiTokens.revoke(token_id, nowIso())
    },
  }
}

const viewOf = (row: ApiTokenRecord): PersonalAccessToken => ({
  id: row.id,
  name: row.name,
  created_at: row.created_at,
  last_used_at: row.last_used_at,
})
