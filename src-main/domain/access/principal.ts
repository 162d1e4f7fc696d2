import type { TokenScope } from '../../../src-shared/contract/identity.ts'
import type {
  AgentId,
  DaemonId,
  ExecutionId,
  ProjectId,
  SessionId,
  TaskId,
  TokenId,
  UserId,
} from '../../../src-shared/contract/ids.ts'

/** The caller of an operation. */
export type Principal =
  | { readonly kind: 'anonymous' }
  /** The person at this machine before any account exists. */
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'user'
      readonly user_id: UserId
      readonly handle: string
      readonly is_admin: boolean
      readonly via: 'jwt' | 'pat' | 'local'
      /** With `jwt`: the sign-in that the token belongs to. */
      readonly session_id?: SessionId
      /** With `pat`: the token's scope and ID. */
      readonly scope?: TokenScope
      readonly token_id?: TokenId
    }
  /** An agent that the service started, by the token of its execution. */
  | {
      readonly kind: 'agent'
      readonly agent_id: AgentId
      readonly project_id: ProjectId
      readonly task_id: TaskId
      readonly execution_id: ExecutionId
    }
  /** A machine that hosts agents, by its own token, which allows only its reports. */
  | { readonly kind: 'daemon'; readonly daemon_id: DaemonId }

/** Returns whether a caller may do everything: an admin, or the operator before any account exists. */
export function isAdmin(principal: Principal): boolean {
  return principal.kind === 'operator' || (principal.kind === 'user' && principal.is_admin)
}

/** Returns whether the caller's token allows only reading. */
export function mayOnlyRead(principal: Principal): boolean {
  return principal.kind === 'user' && principal.scope === 'read'
}

/** Returns the caller's name in the audit: `user:<handle>`, `agent:<id>` or `system`. */
export function actorOf(principal: Principal): string {
  switch (principal.kind) {
    case 'user':
      return `user:${principal.handle}`
    case 'operator':
      return 'user:local'
    case 'agent':
      return `agent:${principal.agent_id}`
    case 'daemon':
      return 'system'
    case 'anonymous':
      return 'user:anonymous'
  }
}
