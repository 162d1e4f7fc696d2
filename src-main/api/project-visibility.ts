import { checkAccess } from '../domain/access/policy.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectRecord, Queries } from '../ports/store.ts'

/** Why a caller has no part in a project; null when they work in it: members, admins, and everybody in a system project. */
export function projectAccessRefusal(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): Refusal | null {
  const role = principal.kind === 'user' ? q.members.role(project.id, principal.user_id) : null
  return checkAccess('member', principal, { project: { id: project.id, owner_id: project.owner_id, role } })
}

/** Whether a caller works in a project. */
export function canSeeProject(
  q: Queries,
  principal: Principal,
  project: Pick<ProjectRecord, 'id' | 'owner_id'>,
): boolean {
  return projectAccessRefusal(q, principal, project) === null
}
