import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { SecurityEventType } from '../../../src-shared/contract/identity.ts'
import type { ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import type { MemberRole } from '../../../src-shared/contract/members.ts'
import { actorOf } from '../../domain/access/principal.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import type { CallContext } from '../api.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, throwNotFound } from '../find.ts'
import { putMember } from '../project-owner.ts'
import { sourceOf } from '../source-of.ts'

type Names = 'members.list' | 'members.add' | 'members.remove'

export function createMemberHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, identity } = parts
  const note = (
    call: CallContext,
    type: SecurityEventType,
    {
      project_id,
      user_id,
      role,
    }: { readonly project_id: ProjectId; readonly user_id: UserId; readonly role: MemberRole },
  ) => {
    const details = { project_id, role }
    identity.securityLog.note({ type, user_id, actor: actorOf(call.principal), source: sourceOf(call), details })
  }
  return {
    'members.list': ({ project_id }) => ({ items: [...store.read.members.list(project_id)] }),
    'members.add': ({ project_id, user_id, email, role }, call) =>
      feed.commit((tx) => {
        const project = findProject(tx, project_id)
        const id = user_id ?? identity.users.withEmail(email ?? '')?.id ?? throwNotFound('user')
        const before = tx.members.role(project_id, id)
        if (before === 'owner' && role !== 'owner') passOn(parts, tx, project, id)
        const member = putMember(tx, project_id, id, role)
        if (before !== role) note(call, before === null ? 'member_added' : 'member_changed', member)
        return { ...member, added: before === null }
      }),
    'members.remove': ({ project_id, user_id }, call) => {
      feed.commit((tx) => {
        const project = findProject(tx, project_id)
        const role: MemberRole = tx.members.role(project_id, user_id) ?? throwNotFound('member')
        if (role === 'owner') passOn(parts, tx, project, user_id)
        tx.members.delete(project_id, user_id)
        tx.emit('member.updated', { project_id, user_id, member: null })
        note(call, 'member_removed', { project_id, user_id, role })
      })
      return null
    },
  }
}

/** Passes the leaving owner's project to another owner. A system project needs none. */
function passOn(parts: ApiParts, tx: Tx, project: ProjectRecord, leaving: UserId): void {
  if (project.owner_id === null) return
  const heir = tx.members.list(project.id).find(({ role, user_id }) => role === 'owner' && user_id !== leaving)
  if (!heir) {
    const message = "This is the project's last owner. Make someone else an owner first."
    throw new ApiError({ code: 'last_owner', message })
  }
  if (project.owner_id !== leaving) return
  const updated = { ...project, owner_id: heir.user_id, updated_at: tx.now() }
  tx.projects.put(updated)
  tx.emit('project.updated', { project_id: project.id, project: parts.engine.views.project(updated) })
}
