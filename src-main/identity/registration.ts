import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Session } from '../../src-shared/contract/identity.ts'
import { UserId } from '../../src-shared/contract/ids.ts'
import type { IdentityContext } from './context.ts'
import { chooseHandle } from './handle.ts'
import type { UserRecord } from './identity-store.ts'
import type { Passwords } from './passwords.ts'
import { userView, type Sessions } from './sessions.ts'

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly display_name: string
}

/**
 * Makes accounts. The first one is always let in, becomes admin and takes over what is ownerless,
 * in the one transaction that makes it. Refuses with `registration_closed` and `email_taken`.
 */
export function createRegistration(
  context: IdentityContext,
  parts: { readonly passwords: Passwords; readonly sessions: Sessions; readonly policy: 'open' | 'closed' },
): (input: RegistrationInput) => Promise<Session> {
  const { store } = context
  const refuse = (email: string) => {
    if (parts.policy === 'closed' && store.firstUserId() !== null) {
      throw new ApiError({
        code: 'registration_closed',
        message: 'This installation takes no registrations. Ask an admin for an account.',
      })
    }
    if (store.users.findByEmail(email)) {
      throw new ApiError({ code: 'email_taken', message: 'There is an account with this email. Sign in instead.' })
    }
  }
  return async (input) => {
    refuse(input.email)
    const password_hash = await parts.passwords.hash(input.password)
    const { user, refreshToken } = store.transaction((announce) => {
      // Again: another registration may have come while the password was hashed.
      refuse(input.email)
      const isFirst = store.firstUserId() === null
      const user: UserRecord = {
        id: UserId.parse(context.newId()),
        email: input.email,
        handle: chooseHandle(input.email, (handle) => store.users.findByHandle(handle) !== null),
        display_name: input.display_name,
        password_hash,
        is_admin: isFirst,
        created_at: context.nowIso(),
      }
      store.users.insert(user)
      if (isFirst) store.setFirstUser(user.id)
      announce.registered(userView(user), isFirst)
      return { user, refreshToken: parts.sessions.open(user) }
    })
    return parts.sessions.answer(user, refreshToken)
  }
}
