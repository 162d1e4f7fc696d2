import { ApiError } from '../../src-shared/contract/errors.ts'
import type { User } from '../../src-shared/contract/identity.ts'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { IdentityStore } from './identity-store.ts'
import { userView } from './sessions.ts'

/** Manages accounts. */
export interface Users {
  list(): User[]
  get(id: UserId): User | null
  /** Case-insensitive. */
  withEmail(email: string): User | null
  /** Must run inside a transaction. Throws `not_found`, and `last_admin` if no other admin is left. */
  setAdmin(id: UserId, is_admin: boolean): User
}

export function createUsers(store: IdentityStore): Users {
  const get = (id: UserId) => {
    const user = store.users.find(id)
    return user && userView(user)
  }
  return {
    list: () => store.users.list().map(userView),
    get,
    withEmail: (email) => {
      const user = store.users.findByEmail(email)
      return user && userView(user)
    },
    setAdmin: (id, is_admin) => {
      const user = get(id)
      if (!user) {
        throw new ApiError({ code: 'not_found', message: "This user doesn't exist.", details: { resource: 'user' } })
      }
      if (user.is_admin && !is_admin && !store.users.list().some((one) => one.is_admin && one.id !== id)) {
        throw new ApiError({
          code: 'last_admin',
          message: 'This is the last admin. Make someone else an admin first.',
        })
      }
      store.users.setAdmin(id, is_admin)
      return { ...user, is_admin }
    },
  }
}
