import type { ErrorCode } from '../../../src-shared/contract/errors.ts'

/** The facts that decide who may register: the administrator's setting, and how the service was started. */
export interface RegistrationPolicy {
  /** null: the default of `startedAs`. */
  readonly registration: 'open' | 'invite' | 'closed' | null
  /** As the desktop app, or as a service without a window. */
  readonly startedAs: 'desktop' | 'serve'
  /** Other machines can reach the service, directly or through a proxy. */
  readonly exposed: boolean
}

/** The person who wants to register. */
export interface Applicant {
  /** No account exists yet. */
  readonly isFirst: boolean
  /** The result of checking their code: for the first account the setup code, later an invite. */
  readonly code: 'none' | 'good' | 'bad'
  readonly atWindow: boolean
  /** null: this platform can't determine it. */
  readonly isSameUser: boolean | null
}

/** Returns the refusal's code if the account may not be created; otherwise null. */
export function refuseRegistration(policy: RegistrationPolicy, applicant: Applicant): ErrorCode | null {
  const { registration, startedAs, exposed } = policy
  const { isFirst, code, atWindow, isSameUser } = applicant
  if (registration === 'closed' && !isFirst) return 'registration_closed'
  if (code === 'bad') return 'invite_invalid'
  if (code === 'good' || registration === 'open') return null
  if (isFirst) {
    if (startedAs === 'desktop') return atWindow ? null : 'other_user'
    if (exposed) return 'invite_required'
    return isSameUser === false ? 'other_user' : null
  }
  const onlyInvited = registration === 'invite' || startedAs === 'desktop' || exposed
  if (onlyInvited || isSameUser === null) return 'invite_required'
  return isSameUser ? null : 'other_user'
}

/** Returns whether the first account needs the setup code that is printed at the start. */
export function needsSetupCode({ registration, startedAs, exposed }: RegistrationPolicy): boolean {
  return exposed && startedAs === 'serve' && registration !== 'open'
}

/** Returns whether the rules depend on which user's process asks. */
export function asksForUser({ registration, startedAs, exposed }: RegistrationPolicy, isFirst: boolean): boolean {
  if (startedAs === 'desktop' || exposed || registration === 'open') return false
  return isFirst || registration === null
}
