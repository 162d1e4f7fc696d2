import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AgentId, UserId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { mayWorkIn } from '../domain/access/agents.ts'
import type { Principal } from '../domain/access/principal.ts'
import { checkRole } from '../domain/workflow/roles.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import { canSeeAgent } from './agent-visibility.ts'
import type { ApiParts } from './context.ts'
import { findAgent, throwNotFound } from './find.ts'

type Parts = Pick<ApiParts, 'store' | 'identity'>

export function canWorkIn(q: Queries, agent: AgentRecord, project: ProjectRecord): boolean {
  const isMember = agent.owner_id !== null && q.members.role(project.id, agent.owner_id) !== null
  return mayWorkIn(agent, project, isMember)
}

/** Returns the agent that a caller named for a project. Throws if they can't see it, or it can't work there. */
export function requireAgentInProject(q: Queries, principal: Principal, id: AgentId, project: ProjectRecord) {
  const agent = findAgent(q, id)
  if (!canSeeAgent(q, principal, agent)) throwNotFound('agent')
  if (canWorkIn(q, agent, project)) return agent
  throw new ApiError({
    code: 'forbidden',
    message: `${agent.name} can't work in this project, because its owner isn't a member.`,
  })
}

/** Throws if the person or agent that a caller named can't have a role in a project. */
export function checkAssignee(parts: Parts, principal: Principal, project: ProjectRecord, assignee: Assignee): void {
  if (assignee.type === 'agent') requireAgentInProject(parts.store.read, principal, assignee.id, project)
  else requireUserInProject(parts, assignee.id, project)
}

/** Throws if the workflow has no such role, or its new holder can't have one. */
export function checkRoles(
  parts: Parts & Pick<ApiParts, 'workflows'>,
  principal: Principal,
  project: ProjectRecord,
  roles: Readonly<Record<string, Assignee>>,
): void {
  const workflow = parts.workflows.of(project.workflow_definition)
  for (const [role, assignee] of Object.entries(roles)) {
    const refusal = checkRole(workflow, role)
    if (refusal) throw new ApiError(refusal)
    checkAssignee(parts, principal, project, assignee)
  }
}

/** Returns whether an assignee can still have a role in a project. */
export function isAssignable({ store: { read }, identity }: Parts, project: ProjectRecord, one: Assignee): boolean {
  if (one.type === 'agent') {
    const agent = read.agents.get(one.id)
    return agent !== null && canWorkIn(read, agent, project)
  }
  return identity.users.get(one.id) !== null && isUserIn(read, one.id, project)
}

function requireUserInProject(parts: Parts, id: UserId, project: ProjectRecord): void {
  const user = parts.identity.users.get(id) ?? throwNotFound('user')
  if (isUserIn(parts.store.read, id, project)) return
  throw new ApiError({ code: 'not_a_member', message: `${user.display_name} isn't a member of this project.` })
}

function isUserIn(q: Queries, id: UserId, project: ProjectRecord): boolean {
  return project.owner_id === null || q.members.role(project.id, id) !== null
}
