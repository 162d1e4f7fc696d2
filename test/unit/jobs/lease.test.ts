import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  accept,
  endLease,
  giveOut,
  isLinkLost,
  isLost,
  newLease,
  pass,
  speak,
  type Lease,
} from '../../../src-main/jobs/rules/lease.ts'

const offered = giveOut(newLease) ?? expect.unreachable()
const taken = accept(offered, { fence: 1, instance: 'a' }) as Lease

test('is accepted once, and again by the process that has it', () => {
  expect(accept(taken, { fence: 1, instance: 'a' })).toEqual(taken)
  expect(accept(taken, { fence: 1, instance: 'b' })).toBe('lease_lost')
  expect(giveOut(taken)).toBeNull()
})

test('counts silence until it is over, and ends it by a word', () => {
  const limits = { link_ms: 30_000, grace_ms: 600_000 }
  expect(pass(endLease(taken), 1_000_000)).toEqual(endLease(taken))
  expect(isLost(pass(offered, 630_001), limits)).toBe(true)
  expect(giveOut(pass(offered, 630_001))?.silent_ms).toBe(0)
  const silent = pass(taken, 30_001)
  expect([isLinkLost(taken, limits), isLinkLost(silent, limits), isLost(silent, limits)]).toEqual([false, true, false])
  expect(isLost(pass(silent, 600_000), limits)).toBe(true)
  expect(speak(silent, 1)).toEqual(taken)
})

test('never lets two runners speak for one job, in any order of what can happen', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('give' as const) }),
    fc.record({ kind: fc.constant('end' as const) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 1_000_000 }) }),
    fc.record({
      kind: fc.constantFrom('accept' as const, 'speak' as const),
      fence: fc.integer({ min: 0, max: 6 }),
      instance: fc.constantFrom('a', 'b'),
    }),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      let lease = newLease
      const owners = new Set<string>()
      let isOver = false
      for (const one of events) {
        const before = lease.fence
        if (one.kind === 'give') lease = giveOut(lease) ?? lease
        else if (one.kind === 'end') {
          lease = endLease(lease)
          isOver = true
        } else if (one.kind === 'pass') lease = pass(lease, one.ms)
        else {
          const after = one.kind === 'accept' ? accept(lease, one) : speak(lease, one.fence)
          if (after !== 'lease_lost') {
            expect(one.fence).toBe(lease.fence)
            expect(isOver).toBe(false)
            if (one.kind === 'accept') owners.add(one.instance)
            lease = after
          }
        }
        expect(lease.fence).toBeGreaterThanOrEqual(before)
      }
      expect(owners.size).toBeLessThanOrEqual(1)
    }),
  )
})
