import { checkAccess } from '../domain/access/policy.ts'
import type { Principal } from '../domain/access/principal.ts'
import { ApiError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'

/** Returns why a caller can't access a project, or null for members, admins and everyone in a system project. */
export function projectAccessRefusal(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): Refusal | null {
  return refusalFor('member', q, principal, project)
}

/** Refuses callers who are neither an owner of the project nor an admin. */
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

/** Returns whether a caller works in a project. */
export function canSeeProject(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): boolean {
  return projectAccessRefusal(q, principal, project) === null
}
