import { expect, test } from 'vitest'
import { isTransient, retryDelay } from '../../../src-main/pull-requests/rules/transient.ts'

const failed = (reason: string) => ({ code: 'external_sync_failed', message: '', details: { reason } }) as const

test('takes a forge that fails or asked for a pause for something that passes', () => {
  expect(['unreachable', 'rate_limited'].map((reason) => isTransient(failed(reason)))).toEqual([true, true])
  const lasting = ['unauthorized', 'forbidden', 'not_found', 'archived', 'missing_secret', 'refused']
  expect(lasting.filter((reason) => isTransient(failed(reason)))).toEqual([])
  expect(isTransient({ code: 'review_not_ready', message: '', details: { reason: 'unreachable' } })).toBe(false)
})

test('waits longer with each failure, at most half an hour', () => {
  expect([0, 1, 2, 3, 7, 100].map((failures) => retryDelay(failures) / 1_000)).toEqual([30, 30, 60, 120, 1_800, 1_800])
})
