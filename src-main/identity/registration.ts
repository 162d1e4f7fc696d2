import { ApiError, type ErrorCode } from '../../src-shared/contract/errors.ts'
import type { AuthOptions, Session } from '../../src-shared/contract/identity.ts'
import { UserId } from '../../src-shared/contract/ids.ts'
import {
  asksForUser,
  needsSetupCode,
  refuseRegistration,
  type RegistrationPolicy,
} from '../domain/access/registration.ts'
import { thisProcess, type RequestSource } from '../domain/access/request-source.ts'
import { refuseCommonPassword } from './common-passwords.ts'
import type { IdentityContext } from './context.ts'
import { chooseHandle } from './handle.ts'
import type { UserRecord } from './identity-store.ts'
import type { Invites } from './invites.ts'
import type { Passwords } from './passwords.ts'
import type { SecurityLog } from './security-log.ts'
import { userView, type Sessions } from './sessions.ts'
import { timingSafeEqual } from 'node:crypto'
import { createSecret, hashToken } from './opaque-tokens.ts'

const maxWrong = 10

/** The code that the first account of an exposed service needs; new at each start, in memory only. */
interface SetupCode {
  /** null once it is void. */
  readonly code: string | null
  /** Returns whether the code matches. Wrong codes count; the tenth makes the code void. */
  check(given: string): boolean
  /** Checks like `check`, without counting. */
  fits(given: string): boolean
}

function createSetupCode(onVoid: () => void): SetupCode {
  const code = createSecret()
  const hash = Buffer.from(hashToken(code))
  let wrong = 0
  const fits = (given: string) => wrong < maxWrong && timingSafeEqual(Buffer.from(hashToken(given)), hash)
  return {
    get code() {
      return wrong < maxWrong ? code : null
    },
    check: (given) => {
      if (fits(given)) return true
      wrong += 1
      if (wrong === maxWrong) onVoid()
      return false
    },
    fits,
  }
}

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly display_name: string
  readonly invite?: string | undefined
}

export interface Registration {
  register(input: RegistrationInput, source: RequestSource): Promise<Session>
  /**
   * Returns the code that the first account needs, or null if none is needed, an account exists, or the code is void.
   */
  setupCode(): string | null
  /** Returns whether someone from there can make an account. */
  options(source: RequestSource): Promise<AuthOptions>
}

interface RegistrationParts {
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly invites: Invites
  readonly log: SecurityLog
  readonly policy: RegistrationPolicy
}

/**
 * Creates accounts that the policy admits. The first one becomes admin and takes over ownerless resources, in the
 * transaction that creates it. Refuses with `registration_closed`, `invite_required`, `invite_invalid`, `other_user`,
 * then with `email_taken`.
 */
export function createRegistration(context: IdentityContext, parts: RegistrationParts): Registration {
  const { store } = context
  const { passwords, sessions, invites, log, policy } = parts
  const setup = needsSetupCode(policy)
    ? createSetupCode(() => log.note({ type: 'setup_code_void', user_id: null, actor: 'system', source: thisProcess }))
    : null

  /** Returns the invite to use up, if any. Called twice; a wrong setup code counts only the first time. */
  const refuse = (input: RegistrationInput, source: RequestSource, isSameUser: boolean | null, again: boolean) => {
    const isFirst = store.firstUserId() === null
    const { invite } = input
    const invite_id = invite !== undefined && !isFirst ? invites.find(invite) : null
    const isGood = (given: string) =>
      isFirst ? setup !== null && (again ? setup.fits(given) : setup.check(given)) : invite_id !== null
    const code = invite === undefined ? 'none' : isGood(invite) ? 'good' : 'bad'
    const refused = refuseRegistration(policy, { isFirst, code, atWindow: source.atWindow, isSameUser })
    if (refused !== null) throw refusal(refused, policy, isFirst)
    if (store.users.findByEmail(input.email)) {
      throw new ApiError({ code: 'email_taken', message: 'There is an account with this email. Sign in instead.' })
    }
    return { isFirst, invite_id }
  }
  const isSameUser = async (source: RequestSource) =>
    asksForUser(policy, store.firstUserId() === null) ? await source.isSameUser() : null

  const register = async (input: RegistrationInput, source: RequestSource): Promise<Session> => {
    const same = await isSameUser(source)
    refuse(input, source, same, false)
    const password_hash = await passwords.hash(input.password)
    const { user, opened } = store.transaction((announce) => {
      // Checked again, because another registration may have finished while the password was hashed.
      const { isFirst, invite_id } = refuse(input, source, same, true)
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
      const about = { user_id: user.id, actor: `user:${user.handle}`, source }
      log.note({ type: 'registered', ...about, details: { is_admin: isFirst } })
      if (invite_id !== null) {
        store.invites.delete(invite_id)
        log.note({ type: 'invite_used', ...about, details: { invite_id } })
      }
      return { user, opened: sessions.open(user, source) }
    })
    return sessions.answer(user, opened)
  }
  return {
    register: async (input, source) => {
      await refuseCommonPassword(input.password, 'password')
      try {
        return await register(input, source)
      } catch (error) {
        if (error instanceof ApiError && error.status === 403) {
          const details = { code: error.code }
          log.note({ type: 'registration_refused', user_id: null, actor: 'user:anonymous', source, details })
        }
        throw error
      }
    },
    options: async (source) => {
      const isFirst = store.firstUserId() === null
      const isSame = await isSameUser(source)
      const { atWindow } = source
      const refused = (code: 'none' | 'good') =>
        refuseRegistration(policy, { isFirst, code, atWindow, isSameUser: isSame }) !== null
      // The first account has a code only where the start printed one.
      const helps = (!isFirst || setup !== null) && !refused('good')
      return { registered: !isFirst, registration: !refused('none') ? 'open' : helps ? 'code' : 'closed' }
    },
    setupCode: () => (setup !== null && store.firstUserId() === null ? setup.code : null),
  }
}

/** Returns the refusal of a code, with what to do. */
function refusal(code: ErrorCode, policy: RegistrationPolicy, isFirst: boolean): ApiError {
  return new ApiError({ code, message: refusalMessage(code, policy, isFirst) })
}

function refusalMessage(code: ErrorCode, policy: RegistrationPolicy, isFirst: boolean): string {
  switch (code) {
    case 'registration_closed':
      return 'This installation takes no registrations. Ask an admin for an account.'
    case 'invite_required':
      return isFirst
        ? 'The first account needs the setup code that the service printed when it started. Send it as `invite`.'
        : 'An account here needs an invite. Ask an admin for one and send its code as `invite`.'
    case 'invite_invalid':
      return isFirst
        ? 'This setup code is not valid. The service prints a new one at each start; ten wrong ones make it void.'
        : 'This invite is not valid: it was used, taken back, or has expired. Ask an admin for a new one.'
    default:
      if (policy.startedAs === 'desktop') {
        return 'The first account is made in the window of Copse (Settings, Account), by the person at this machine.'
      }
      return isFirst
        ? 'The first account is made by the user who runs the service, on this machine, and not by a program that the service started.'
        : 'Only the user who runs Copse can register without an invite. Ask an admin for one.'
  }
}
