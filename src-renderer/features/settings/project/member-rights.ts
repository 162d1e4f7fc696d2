import type { User } from '../../../../src-shared/contract/identity.ts'
import type { Member } from '../../../../src-shared/contract/members.ts'
import type { Project } from '../../../../src-shared/contract/projects.ts'

export interface MemberRights {
  /** Whether the user adds and removes members. */
  readonly manages: boolean
  /** Returns the reason why a member can't be removed; null if possible. */
  mustStay(member: Member): string | null
}

/** Returns the user's rights over the members of a project; the service decides. */
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
