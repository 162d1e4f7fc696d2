import type { ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Principal } from './principal.ts'

/**
 * Returns whether an agent may work in a project: an ownerless project accepts all agents, others those of their
 * members.
 */
export function mayWorkIn(
  agent: { owner_id: UserId | null },
  project: { owner_id: UserId | null },
  owner_is_member: boolean,
): boolean {
  return project.owner_id === null || (agent.owner_id !== null && owner_is_member)
}

/**
 * Returns whether a person sees an agent: their own, ownerless ones, and those of people they share a project with.
 */
export function maySeeAgent(
  principal: Principal,
  agent: { owner_id: UserId | null },
  shared: (owner: UserId) => ReadonlySet<ProjectId>,
  callerProjects: ReadonlySet<ProjectId>,
): boolean {
  if (principal.kind === 'operator' || agent.owner_id === null) return true
  if (principal.kind !== 'user') return false
  if (principal.is_admin || principal.user_id === agent.owner_id) return true
  return [...shared(agent.owner_id)].some((project) => callerProjects.has(project))
}

/** Returns whether a caller may change an agent or see its environment. */
export function ownsAgent(principal: Principal, agent: { owner_id: UserId | null }): boolean {
  if (principal.kind === 'operator') return true
  return (
    principal.kind === 'user' && (principal.is_admin || principal.user_id === agent.owner_id || agent.owner_id === null)
  )
}

/** Returns the agent without its environment, which may hold secrets. */
export function withoutEnv(agent: Agent): Agent {
  const { env: _secret, ...config } = agent.config
  return { ...agent, config }
}
