import { TokenId } from '../../src-shared/contract/ids.ts'
import type { AgentTokens } from '../ports/agent-tokens.ts'
import type { IdentityContext } from './context.ts'
import { createOpaqueToken, hashToken } from './opaque-tokens.ts'

/** Creates tokens for the agents that the service starts. */
export function createAgentTokens({ store, newId, nowIso }: IdentityContext): AgentTokens {
  return {
    mint: (bound) => {
      const token = createOpaqueToken('svc')
      store.apiTokens.insert({
        id: TokenId.parse(newId()),
        token_hash: hashToken(token),
        user_id: null,
        name: `execution ${bound.execution_id}`,
        scope: 'full',
        created_at: nowIso(),
        expires_at: null,
        last_used_at: null,
        ...bound,
        revoked_at: null,
      })
      return token
    },
    revoke: (execution_id) => {
      store.apiTokens.revokeOfExecution(execution_id, nowIso())
    },
  }
}
