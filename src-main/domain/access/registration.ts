import type { ErrorCode } from '../../../src-shared/contract/errors.ts'

/** What decides who may make an account: what the administrator has set, and how the service was started. */
export interface RegistrationPolicy {
  /** null: as the way of the start has it. */
  readonly registration: 'open' | 'invite' | 'closed' | null
  /** As the app of the person at this machine, or as a service alone. */
  readonly startedAs: 'desktop' | 'serve'
  /** Other machines can reach it, or a proxy that brings them. */
  readonly exposed: boolean
}

/** The caller who wants an account. */
export interface Applicant {
  /** Nobody has one yet. */
  readonly isFirst: boolean
  /** What a code that they brought is worth; for the first account it is the setup code, later an invite. */
  readonly code: 'none' | 'good' | 'bad'
  readonly atWindow: boolean
  /** null: this platform can't tell. */
  readonly isSameUser: boolean | null
}

/** Returns the code of the refusal of an account; null when it may be made. */
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

/** Whether the first account needs the code that the start prints. */
export function needsSetupCode({ registration, startedAs, exposed }: RegistrationPolicy): boolean {
  return exposed && startedAs === 'serve' && registration !== 'open'
}

/** Whether it matters which user's process asks. */
export function asksForUser({ registration, startedAs, exposed }: RegistrationPolicy, isFirst: boolean): boolean {
  if (startedAs === 'desktop' || exposed || registration === 'open') return false
  return isFirst || registration === null
}
