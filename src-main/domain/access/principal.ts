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

/** Who is calling. */
export type Principal =
  | { readonly kind: 'anonymous' }
  /** The person at this machine before anybody has registered. */
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'user'
      readonly user_id: UserId
      readonly handle: string
      readonly is_admin: boolean
      readonly via: 'jwt' | 'pat' | 'local'
      /** With `jwt`: the sign-in that the token belongs to. */
      readonly session_id?: SessionId
      /** With `pat`: what the token may, and which one it is. */
      readonly scope?: TokenScope
      readonly token_id?: TokenId
    }
  /** An agent that the service started, by the token that is bound to its execution. */
  | {
      readonly kind: 'agent'
      readonly agent_id: AgentId
      readonly project_id: ProjectId
      readonly task_id: TaskId
      readonly execution_id: ExecutionId
    }
  /** A machine that hosts agents, by its own token, which is good for its reports only. */
  | { readonly kind: 'daemon'; readonly daemon_id: DaemonId }

/** Whether they may do everything here: an admin, or the operator while nobody has registered. */
export function isAdmin(principal: Principal): boolean {
  return principal.kind === 'operator' || (principal.kind === 'user' && principal.is_admin)
}

/** Whether their token lets them look and no more. */
export function mayOnlyRead(principal: Principal): boolean {
  return principal.kind === 'user' && principal.scope === 'read'
}

/** How the audit names who acted: `user:<handle>`, `agent:<id>` or `system`. */
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
