import { compareIds } from '../../../src-shared/lang/compare-ids.ts'
import { defineStore } from 'pinia'
import { computed, shallowReactive } from 'vue'
import type { EventPayload } from '../../../src-shared/contract/events.ts'
import type { User } from '../../../src-shared/contract/identity.ts'
import type { Member, MemberRole } from '../../../src-shared/contract/members.ts'
import { useClient } from '../base/client.ts'
import { useNotifications } from './notifications.ts'
import { useProjects } from '../project/projects.ts'
import { createEntityStore, createKeyedStore } from '../base/entity-store.ts'
import { useSession } from '../base/session.ts'
import { useToasts } from '../base/toasts.ts'

/** The accounts of this installation, which only admins see, and the members of each project. */
export const useAccounts = defineStore('accounts', () => {
  const client = useClient()
  const session = useSession()
  const projects = useProjects()
  const notifications = useNotifications()
  const toasts = useToasts()
  const users = createEntityStore<User>({ onChanged: (user) => name(user.id, user) })
  const members = createKeyedStore<readonly Member[]>({
    onChanged: (list) => list.forEach((one) => name(one.user_id, one)),
  })
  /** Display names by user ID, as far as the viewer may see them. */
  const names = shallowReactive(new Map<string, string>())
  const name = (id: string, { display_name }: Pick<User, 'display_name'>) => void names.set(id, display_name)

  async function loadMembers(projectId: string): Promise<void> {
    const ask = async () => (await client.call('members.list', { project_id: projectId })).items
    // An event has changed the members during the request, so they are loaded again.
    if (!(await members.take(projectId, ask))) await loadMembers(projectId)
  }
  /** Reloads what the current user may see, after their rights have changed. */
  async function reloadVisible(projectId: string | null): Promise<void> {
    await projects.load()
    if (projectId === null) await Promise.all(projects.items.map(({ id }) => projects.prepare(id)))
    else if (projects.byId.has(projectId)) await Promise.all([projects.prepare(projectId), loadMembers(projectId)])
    else notifications.forgetProject(projectId)
  }
  const reloadInBackground = (projectId: string | null) =>
    void reloadVisible(projectId).catch((error: unknown) => toasts.refused(error, 'Couldn’t load everything.'))

  function putUser(user: User): void {
    users.put(user)
    const before = session.me
    if (before?.id !== user.id) return
    session.me = user
    if (before.is_admin !== user.is_admin) reloadInBackground(null)
  }
  function putMember({ project_id, user_id, member }: EventPayload<'member.updated'>): void {
    if (member) name(user_id, member)
    const others = members.byKey.get(project_id)?.filter((one) => one.user_id !== user_id)
    if (others) members.put(project_id, member ? [...others, member] : others)
    else members.touch(project_id)
    if (user_id === session.me?.id) reloadInBackground(project_id)
  }
  return {
    /** All users in the order of registration, which IDs follow. */
    users: computed(() => [...users.byId.values()].sort((a, b) => compareIds(a.id, b.id))),
    loaded: users.loaded,
    putUser,
    putMember,
    loadUsers: (): Promise<void> => users.replace(() => client.call('admin.list_users', {})),
    setAdmin: async (userId: string, isAdmin: boolean): Promise<void> =>
      putUser(await client.call('admin.update_user', { user_id: userId, is_admin: isAdmin })),
    /** Returns a project's members, owners first, then by name; undefined until they are loaded. */
    membersOf: (projectId: string): readonly Member[] | undefined =>
      members.byKey.get(projectId)?.toSorted(byRoleAndName),
    loadMembers,
    /** Returns a user's name; undefined if the viewer may not see it. */
    nameOf: (userId: string): string | undefined => names.get(userId),
    /** Loads the members of all projects. The people of a project that can't be loaded remain unnamed. */
    loadNames: async (): Promise<void> => {
      if (session.me) await Promise.allSettled(projects.items.map(({ id }) => loadMembers(id)))
    },
    addMember: async (projectId: string, email: string, role: MemberRole): Promise<void> => {
      await client.call('members.add', { project_id: projectId, email, role })
    },
    setRole: async ({ project_id, user_id }: Member, role: MemberRole): Promise<void> => {
      await client.call('members.add', { project_id, user_id, role })
    },
    removeMember: async ({ project_id, user_id }: Member): Promise<void> => {
      await client.call('members.remove', { project_id, user_id })
    },
    /** Drops everything, because the next user may not see it. */
    forget(): void {
      users.byId.clear()
      members.byKey.clear()
      names.clear()
      users.loaded.value = false
    },
  }
})

function byRoleAndName(a: Member, b: Member): number {
  if (a.role !== b.role) return a.role === 'owner' ? -1 : 1
  return a.display_name.localeCompare(b.display_name)
}
