import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { ExecutionId, UserId } from '../../../src-shared/contract/ids.ts'
import type { MemberRole } from '../../../src-shared/contract/members.ts'
import { ownsAgent } from './agents.ts'
import { isAdmin, type Principal } from './principal.ts'

/** Returns whether a caller may act for an execution: its agent, that agent's owner, its person, or an admin. */
export function actsFor(
  principal: Principal,
  execution: { readonly id: ExecutionId; readonly user_id: UserId | null },
  agent: { readonly owner_id: UserId | null } | null,
): boolean {
  if (isAdmin(principal)) return true
  if (principal.kind === 'agent') return principal.execution_id === execution.id
  if (principal.kind !== 'user') return false
  return execution.user_id === principal.user_id || (agent !== null && ownsAgent(principal, agent))
}

/**
 * Returns whether a caller wrote a comment. The operator's comments from before the first account stay theirs at this
 * machine.
 */
export function isAuthor(principal: Principal, { author }: Pick<Comment, 'author'>): boolean {
  switch (principal.kind) {
    case 'agent':
      return author.type === 'agent' && author.id === principal.agent_id
    case 'user':
      if (author.type === 'user') return author.id === principal.user_id
      return author.type === 'operator' && principal.via === 'local'
    case 'operator':
      return author.type === 'operator'
    case 'daemon':
    case 'anonymous':
      return false
  }
}

/** Returns whether a caller may delete other people's comments: an owner of the project, or an admin. */
export function mayModerate(principal: Principal, role: MemberRole | null): boolean {
  return isAdmin(principal) || (principal.kind === 'user' && role === 'owner')
}
