import { expect, test } from 'vitest'
import { createLoginLimits } from '../../../src-main/identity/login-limits.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'

const minutes = 60_000

function refusalOf(action: () => unknown): ApiError | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

function repeat(times: number, action: (index: number) => unknown): void {
  for (let index = 0; index < times; index++) action(index)
}

test('the eleventh failure of an account within 15 minutes is told to wait, in whatever case it is written', () => {
  const time = { now: 0 }
  const limits = createLoginLimits({ now: () => time.now })
  repeat(10, () => limits.begin('10.0.0.1', 'owner@example.com'))
  time.now = 5 * minutes
  const refusal = refusalOf(() => limits.begin('10.0.0.2', 'OWNER@example.com'))
  expect(refusal).toMatchObject({ code: 'rate_limited', details: { retry_after: 600 } })
  time.now = 15 * minutes
  expect(refusalOf(() => limits.begin('10.0.0.2', 'owner@example.com'))).toBeNull()
})

test('an address is limited over all accounts that it tries, and others are not', () => {
  const limits = createLoginLimits({ now: () => 0 })
  repeat(100, (index) => limits.begin('10.0.0.1', `user-${index}@example.com`))
  expect(refusalOf(() => limits.begin('10.0.0.1', 'new@example.com'))?.code).toBe('rate_limited')
  expect(refusalOf(() => limits.begin('10.0.0.2', 'new@example.com'))).toBeNull()
  expect(refusalOf(() => limits.begin(null, 'other@example.com'))).toBeNull()
})

test('a success forgets the account’s failures and is itself not counted for the address', () => {
  const limits = createLoginLimits({ now: () => 0 })
  repeat(9, () => limits.begin('10.0.0.1', 'owner@example.com'))
  limits.begin('10.0.0.1', 'owner@example.com').succeeded()
  expect(refusalOf(() => repeat(10, () => limits.begin('10.0.0.1', 'owner@example.com')))).toBeNull()
  repeat(200, () => limits.begin('10.0.0.9', 'member@example.com').succeeded())
  expect(refusalOf(() => limits.begin('10.0.0.9', 'carol@example.com'))).toBeNull()
})
