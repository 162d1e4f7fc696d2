import { expect, test } from 'vitest'
import { createLoginLimits } from '../../../src-main/identity/login-limits.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'

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

const stranger = () => false
const known = () => true

test('makes a pair wait after ten failures, doubling up to 30 seconds, in any case of the e-mail', () => {
  const time = { now: 0 }
  const limits = createLoginLimits({ now: () => time.now })
  repeat(10, () => limits.begin('10.0.0.1', 'owner@example.com', stranger))
  const waits: unknown[] = []
  for (let round = 0; round < 7; round++) {
    const refusal = refusalOf(() => limits.begin('10.0.0.1', 'OWNER@example.com', known))
    const seconds = Number(refusal?.details?.['retry_after'])
    waits.push(seconds)
    time.now += seconds * 1_000 - 1
    expect(refusalOf(() => limits.begin('10.0.0.1', 'owner@example.com', known))?.code).toBe('rate_limited')
    time.now += 1
    limits.begin('10.0.0.1', 'owner@example.com', known)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30])
})

test('slows strangers after failures elsewhere, but no one who has signed in from there', () => {
  const limits = createLoginLimits({ now: () => 0 })
  repeat(100, (index) => limits.begin(`10.0.1.${index}`, 'owner@example.com', stranger))
  const from = (isKnown: () => boolean) => refusalOf(() => limits.begin('10.0.0.9', 'owner@example.com', isKnown))
  expect([from(stranger)?.code, from(known)]).toEqual(['rate_limited', null])
})

test('limits an address over all accounts, but not others or this machine', () => {
  const limits = createLoginLimits({ now: () => 0 })
  const next = (address: string | null) => refusalOf(() => limits.begin(address, 'new@example.com', stranger))
  for (const address of ['10.0.0.1', '127.0.0.1', '2001:db8::1']) {
    repeat(100, (index) => limits.begin(address, `user-${index}@example.com`, stranger))
  }
  expect(next('10.0.0.1')?.code).toBe('rate_limited')
  // The owner of one IPv6 address has the whole network.
  expect(next('2001:db8:0:0:ffff::2')?.code).toBe('rate_limited')
  expect([next('10.0.0.2'), next('127.0.0.1'), next('2001:db8:0:1::1'), next(null)]).toEqual([null, null, null, null])
})

test('forgets the pair’s failures after a success, which counts for no address', () => {
  const limits = createLoginLimits({ now: () => 0 })
  repeat(9, () => limits.begin('10.0.0.1', 'owner@example.com', stranger))
  limits.begin('10.0.0.1', 'owner@example.com', stranger).succeeded()
  expect(refusalOf(() => repeat(10, () => limits.begin('10.0.0.1', 'owner@example.com', stranger)))).toBeNull()
  repeat(200, () => limits.begin('10.0.0.9', 'member@example.com', stranger).succeeded())
  expect(refusalOf(() => limits.begin('10.0.0.9', 'carol@example.com', stranger))).toBeNull()
})
