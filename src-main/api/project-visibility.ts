import { checkAccess } from '../domain/access/policy.ts'
import type { Principal } from '../domain/access/principal.ts'
import { ApiError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectRecord, Queries } from '../ports/store.ts'

/** Why a caller has no part in a project; null when they work in it: members, admins, and everybody in a system project. */
export function projectAccessRefusal(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): Refusal | null {
  return refusalFor('member', q, principal, project)
}

/** Refuses who is neither an owner of a project nor an admin. */
export function checkOwner(q: Queries, principal: Principal, project: Pick<ProjectRecord, 'id' | 'owner_id'>): void {
  const refusal = refusalFor('owner', q, principal, project)
  if (refusal) throw new ApiError(refusal)
}

function refusalFor(
  rule: 'member' | 'owner',
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): Refusal | null {
  const role = principal.kind === 'user' ? q.members.role(project.id, principal.user_id) : null
  return checkAccess(rule, principal, { project: { id: project.id, owner_id: project.owner_id, role } })
}

/** Whether a caller works in a project. */
export function canSeeProject(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): boolean {
  return projectAccessRefusal(q, principal, project) === null
}
