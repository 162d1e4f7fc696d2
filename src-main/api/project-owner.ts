import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ProjectId, UserId } from '../../src-shared/contract/ids.ts'
import type { Member, MemberRole } from '../../src-shared/contract/members.ts'
import type { Principal } from '../domain/access/principal.ts'
import { isAdmin } from '../domain/access/principal.ts'
import type { Tx } from '../core/event-feed.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import { throwNotFound } from './find.ts'

/**
 * Transfers a project inside the transaction; the new owner becomes one of its owners. Only an admin can make it a
 * system project (null): throws `admin_required`. Throws `not_found` for an unknown person.
 */
export function transferProject(
  tx: Tx,
  project: ProjectRecord,
  owner_id: UserId | null | undefined,
  principal: Principal,
): ProjectRecord {
  if (owner_id === undefined || owner_id === project.owner_id) return project
  if (owner_id !== null) putMember(tx, project.id, owner_id, 'owner')
  else if (!isAdmin(principal)) {
    throw new ApiError({ code: 'admin_required', message: 'Only an admin can open a project to everyone.' })
  }
  return { ...project, owner_id }
}

/** Adds or updates a member and emits an event. Throws `not_found` for an unknown person. */
export function putMember(tx: Tx, project_id: ProjectId, user_id: UserId, role: MemberRole): Member {
  if (!tx.members.isPerson(user_id)) throwNotFound('user')
  tx.members.put(project_id, user_id, role)
  const member = tx.members.list(project_id).find((one) => one.user_id === user_id) ?? throwNotFound('user')
  tx.emit('member.updated', { project_id, user_id, member })
  return member
}
