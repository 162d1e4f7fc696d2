import { expect, test } from 'vitest'
import { JobOutcome } from '../../../src-shared/contract/jobs.ts'

test('takes nothing of an outcome that a runner says wrongly', () => {
  const windows = [{ name: '5 hours', used: 0.5, resets_at: null }]
  const usage_limit = { resets_at: '2026-11-28T12:00:00.000Z', account: 'me' }
  const whole = { ended: 'exited', conclusion: 'limit', usage_limit, unasked: { count: 1, actions: ['rm'] }, windows }
  expect(JobOutcome.parse(whole)).toEqual(whole)
  const forged = {
    ended: 'lost',
    conclusion: 7,
    usage_limit: { resets_at: 'never' },
    unasked: [],
    windows: 'all',
    x: 1,
  }
  expect(JobOutcome.parse(forged)).toEqual({ ended: 'exited', conclusion: 'done' })
})
