import { expect, test } from 'vitest'
import {
  asksForUser,
  needsSetupCode,
  refuseRegistration,
  type Applicant,
  type RegistrationPolicy,
} from '../../../../src-main/domain/access/registration.ts'

const somebody: Applicant = { isFirst: true, code: 'none', atWindow: false, isSameUser: false }
const ofUs: Applicant = { ...somebody, isSameUser: true }
const unknown: Applicant = { ...somebody, isSameUser: null }
const atWindow: Applicant = { ...ofUs, atWindow: true }
const withCode: Applicant = { ...somebody, code: 'good' }
const withWrongCode: Applicant = { ...ofUs, code: 'bad' }
const later = (who: Applicant): Applicant => ({ ...who, isFirst: false })

const loopback = { startedAs: 'serve', exposed: false } as const
const exposed = { startedAs: 'serve', exposed: true } as const
const desktop = { startedAs: 'desktop', exposed: false } as const

const applicants = [somebody, ofUs, unknown, atWindow, withCode, withWrongCode]
/** For the first account, then for a later one; a dot lets in. */
const marks: Readonly<Record<string, string>> = {
  registration_closed: 'closed',
  invite_required: 'invite',
  invite_invalid: 'wrong',
  other_user: 'other',
}
const rowOf = (policy: RegistrationPolicy) =>
  [applicants, applicants.map(later)].map((ones) =>
    ones.map((one) => marks[refuseRegistration(policy, one) ?? ''] ?? '.').join(' '),
  )

// Columns: another user, our user, an unknown user, the window, a valid code, an invalid one.
test.each<[RegistrationPolicy, first: string, later: string]>([
  [{ ...loopback, registration: null }, 'other . . . . wrong', 'other . invite . . wrong'],
  [{ ...exposed, registration: null }, 'invite invite invite invite . wrong', 'invite invite invite invite . wrong'],
  [{ ...desktop, registration: null }, 'other other other . . wrong', 'invite invite invite invite . wrong'],
  [{ ...loopback, registration: 'invite' }, 'other . . . . wrong', 'invite invite invite invite . wrong'],
  [{ ...loopback, registration: 'open' }, '. . . . . wrong', '. . . . . wrong'],
  [{ ...exposed, registration: 'open' }, '. . . . . wrong', '. . . . . wrong'],
  [{ ...loopback, registration: 'closed' }, 'other . . . . wrong', Array(6).fill('closed').join(' ')],
  [{ ...exposed, registration: 'closed' }, 'invite invite invite invite . wrong', Array(6).fill('closed').join(' ')],
])('decides who may register under %j', (policy, first, after) => {
  expect(rowOf(policy)).toEqual([first, after])
})

test('needs the setup code on exposed services that are not open', () => {
  expect(needsSetupCode({ ...exposed, registration: null })).toBe(true)
  for (const policy of [loopback, desktop, { ...desktop, exposed: true }]) {
    expect(needsSetupCode({ ...policy, registration: null })).toBe(false)
  }
  expect(needsSetupCode({ ...exposed, registration: 'open' })).toBe(false)
  expect(asksForUser({ ...loopback, registration: null }, false)).toBe(true)
  expect(asksForUser({ ...loopback, registration: 'invite' }, true)).toBe(true)
  expect(asksForUser({ ...loopback, registration: 'invite' }, false)).toBe(false)
  expect(asksForUser({ ...exposed, registration: null }, true)).toBe(false)
})
