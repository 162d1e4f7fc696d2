import type { User } from '../../../../src-shared/contract/identity.ts'
import type { Member } from '../../../../src-shared/contract/members.ts'
import type { Project } from '../../../../src-shared/contract/projects.ts'

export interface MemberRights {
  /** Whether this person adds people and takes them out. */
  readonly manages: boolean
  /** Why somebody can't be taken out; null when they can. */
  mustStay(member: Member): string | null
}

/** What somebody may do with the members of a project; the service decides in the end. */
export function memberRights(
  members: readonly Member[],
  project: Pick<Project, 'owner_id'>,
  me: Pick<User, 'id' | 'is_admin'> | null,
): MemberRights {
  const owners = members.filter(({ role }) => role === 'owner')
  return {
    manages: me !== null && (me.is_admin || owners.some(({ user_id }) => user_id === me.id)),
    mustStay: ({ role }) =>
      role === 'owner' && owners.length === 1 && project.owner_id !== null
        ? 'A project needs an owner. Make someone else an owner first.'
        : null,
  }
}
