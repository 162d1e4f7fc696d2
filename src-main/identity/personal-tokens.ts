import { ApiError } from '../../src-shared/contract/errors.ts'
import type { PersonalAccessToken, TokenScope } from '../../src-shared/contract/identity.ts'
import { TokenId } from '../../src-shared/contract/ids.ts'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { IdentityContext } from './context.ts'
import type { ApiTokenRecord } from './identity-store.ts'
import { createOpaqueToken, hashToken } from './opaque-tokens.ts'

interface NewToken {
  readonly name: string
  readonly scope: TokenScope
  /** null: valid until revoked. */
  readonly expires_at: string | null
}

export interface PersonalTokens {
  list(user_id: UserId): PersonalAccessToken[]
  /** Returns the token, which is not stored. Throws `validation_failed` for an end in the past. */
  create(user_id: UserId, token: NewToken): Omit<PersonalAccessToken, 'last_used_at'> & { token: string }
  /** Revokes a token and returns it. Throws `not_found`, or `forbidden` for another user's; `by` null is an admin. */
  delete(by: UserId | null, token_id: TokenId): PersonalAccessToken & { readonly user_id: UserId }
}

/** Manages people's long-lived tokens. */
export function createPersonalTokens({ store, clock, newId, nowIso }: IdentityContext): PersonalTokens {
  return {
    list: (user_id) => store.apiTokens.list(user_id).map(viewOf),
    create: (user_id, { name, scope, expires_at }) => {
      if (expires_at !== null && Date.parse(expires_at) <= clock.now()) {
        const issue = { path: 'expires_at', message: 'Choose a time in the future, or null for never.' }
        throw new ApiError({
          code: 'validation_failed',
          message: `${issue.path}: ${issue.message}`,
          details: { issues: [issue] },
        })
      }
      const token = createOpaqueToken('svc')
      const row: ApiTokenRecord = {
        id: TokenId.parse(newId()),
        token_hash: hashToken(token),
        user_id,
        name,
        scope,
        created_at: nowIso(),
        expires_at,
        last_used_at: null,
        agent_id: null,
        project_id: null,
        task_id: null,
        execution_id: null,
        revoked_at: null,
      }
      store.apiTokens.insert(row)
      return { token, id: row.id, name, scope, created_at: row.created_at, expires_at }
    },
    delete: (by, token_id) => {
      const row = store.apiTokens.find(token_id)
      if (!row || row.revoked_at !== null || row.user_id === null) {
        throw new ApiError({
          code: 'not_found',
          message: "This token doesn't exist. List yours with GET /auth/tokens.",
          details: { resource: 'token' },
        })
      }
      if (by !== null && row.user_id !== by) {
        throw new ApiError({ code: 'forbidden', message: 'Only its owner can revoke a token.' })
      }
      store.apiTokens.revoke(token_id, nowIso())
      return { ...viewOf(row), user_id: row.user_id }
    },
  }
}

const viewOf = (row: ApiTokenRecord): PersonalAccessToken => ({
  id: row.id,
  name: row.name,
  scope: row.scope,
  created_at: row.created_at,
  expires_at: row.expires_at,
  last_used_at: row.last_used_at,
})
