import type { Agent } from '../../src-shared/contract/projects.ts'
import { maySeeAgent } from '../domain/access/agents.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Queries } from '../ports/store.ts'

/** Returns whether a caller sees an agent: the agent is theirs, ownerless, or may work in one of their projects. */
export function canSeeAgent(q: Queries, principal: Principal, agent: Pick<Agent, 'id' | 'owner_id'>): boolean {
  if (principal.kind === 'agent') {
    if (principal.agent_id === agent.id || agent.owner_id === null) return true
    return q.projects.get(principal.project_id)?.owner_id === null || isMember(q, principal.project_id, agent.owner_id)
  }
  const callerProjects = principal.kind === 'user' ? q.members.projectsOf(principal.user_id) : new Set<never>()
  return maySeeAgent(principal, agent, (owner) => q.members.projectsOf(owner), callerProjects)
}

function isMember(q: Queries, ...[project_id, user_id]: Parameters<Queries['members']['role']>): boolean {
  return q.members.role(project_id, user_id) !== null
}
