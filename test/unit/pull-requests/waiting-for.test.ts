import { describe, expect, test } from 'vitest'
import { isAllDue, isTermNew, nextSync } from '../../../src-main/pull-requests/rules/next-sync.ts'
import { waitingFor } from '../../../src-main/pull-requests/rules/waiting-for.ts'

const ready: Parameters<typeof waitingFor>[0] = {
  state: 'open',
  mergeable: true,
  queued: false,
  checks: [],
  threads: [],
  reviews: [],
  stacked: false,
  judged: true,
  known: true,
}

describe('what a pull request waits for', () => {
  test('is nothing when all is there, and once it is merged or closed', () => {
    expect(waitingFor(ready)).toEqual([])
    const open = { ...ready, mergeable: false, judged: false, known: false }
    expect(waitingFor({ ...open, state: 'merged' })).toEqual([])
    expect(waitingFor({ ...open, state: 'closed' })).toEqual([])
  })
  test.each([
    ['conflict', { mergeable: false }],
    ['review', { judged: false }],
    ['draft', { state: 'draft' as const }],
    ['stack', { stacked: true }],
    ['queue', { queued: true }],
    ['forge', { mergeable: null }],
    ['forge', { known: false }],
    ['checks', { checks: [{ state: 'running', required: true }] }],
    ['checks', { checks: [{ state: 'failed', required: null }] }],
    ['checks', { checks: [{ state: 'cancelled', required: null }] }],
    ['threads', { threads: [{ resolved: false, ours_last: false }] }],
    ['approval', { reviews: [{ state: 'changes_requested' }] }],
    ['approval', { reviews: [{ state: 'requested' }] }],
  ] as const)('is %s with %o', (wait, more) => {
    expect(waitingFor({ ...ready, ...more })).toEqual([wait])
  })
  test.each([
    { checks: [{ state: 'failed', required: false }] },
    { checks: [{ state: 'skipped', required: true }] },
    { threads: [{ resolved: true, ours_last: false }] },
    { threads: [{ resolved: false, ours_last: true }] },
    { reviews: [{ state: 'requested' }, { state: 'approved' }] },
    { reviews: [{ state: 'commented' }] },
  ])('is nothing with %o', (more) => {
    expect(waitingFor({ ...ready, ...more })).toEqual([])
  })
})

describe('the next question to the forge', () => {
  const at = { now: 1_000_000, interval_secs: 300 }
  const since = (ms: number) => new Date(at.now - ms).toISOString()
  const still = { state: 'open', mergeable: true, head_since: since(60_000), checks: { items: [] }, failures: 0 }
  const wait = (more: Partial<typeof still> | { mergeable: null }) =>
    (nextSync({ ...still, ...more }, at) - at.now) / 1_000

  test('comes sooner while something is worked out, and never sooner than the interval', () => {
    expect(wait({})).toBe(300)
    expect(wait({ mergeable: null })).toBe(30)
    // Its checks may begin yet.
    expect(wait({ head_since: since(59_999) })).toBe(30)
    expect(wait({ head_since: since(1), checks: { items: [{ state: 'passed' }] } as never })).toBe(300)
    expect(wait({ checks: { items: [{ state: 'running' }] } as never })).toBe(30)
    expect(nextSync({ ...still, mergeable: null }, { ...at, interval_secs: 10 }) - at.now).toBe(10_000)
  })
  test('comes seldom for a closed one, and later with each failure, within an hour', () => {
    expect(wait({ state: 'closed' })).toBe(1_800)
    const waits = [1, 2, 3, 10, 1_000].map((failures) => wait({ failures }))
    expect(waits).toEqual([600, 1_200, 2_400, 3_600, 3_600])
  })
  test('is for everything once an hour', () => {
    expect(isAllDue(null, 0)).toBe(true)
    expect(isAllDue(new Date(0).toISOString(), 3_599_999)).toBe(false)
    expect(isAllDue(new Date(0).toISOString(), 3_600_000)).toBe(true)
  })
  test('is for what changes seldom three times an hour', () => {
    const poll = (minute: number) => new Date(minute * 60_000).toISOString()
    const minutes = Array.from({ length: 12 }, (_, index) => index * 5)
    expect(isTermNew(null, 0)).toBe(true)
    expect(minutes.filter((minute) => isTermNew(poll(minute), (minute + 5) * 60_000))).toEqual([15, 35, 55])
  })
})
