import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rejectionsSinceUser, type AuditEntry } from '../../../../src-main/domain/task/retry-budget.ts'

const entry = (from_state: string, rejection: boolean, triggered_by: string): AuditEntry => ({
  from_state,
  rejection,
  triggered_by,
})
const no = entry('review', true, 'system')

test('only rejections of this gate since the last word of a person count', () => {
  expect(rejectionsSinceUser([], 'review')).toBe(0)
  expect(rejectionsSinceUser([no, entry('in_progress', false, 'system'), no], 'review')).toBe(2)
  expect(rejectionsSinceUser([no, no], 'planning')).toBe(0)
  expect(rejectionsSinceUser([no, no, entry('review', true, 'user:ann')], 'review')).toBe(0)
  expect(rejectionsSinceUser([no, entry('blocked', false, 'user:ann'), no], 'review')).toBe(1)
  expect(rejectionsSinceUser([entry('review', true, 'agent:user:x')], 'review')).toBe(1)
})

test('whatever came before a person’s word changes nothing', () => {
  const anyEntry = fc.record({
    from_state: fc.constantFrom('review', 'planning', 'in_progress'),
    rejection: fc.boolean(),
    triggered_by: fc.constantFrom('system', 'agent:a', 'user:ann'),
  })
  fc.assert(
    fc.property(fc.array(anyEntry), fc.array(anyEntry), (before, after) => {
      const word = entry('blocked', false, 'user:ann')
      expect(rejectionsSinceUser([...before, word, ...after], 'review')).toBe(rejectionsSinceUser(after, 'review'))
    }),
  )
})
