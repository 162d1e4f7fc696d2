import fc from 'fast-check'
import { expect, test } from 'vitest'
import { portBases, portsFrom, portsPerWorktree } from '../../../../src-main/workspaces/rules/port-ranges.ts'

test('offers every task each range once, in an order of its own, without overlaps', () => {
  const all = [...portBases('0')].toSorted((a, b) => a - b)
  fc.assert(
    fc.property(fc.oneof(fc.uuid({ version: 7 }), fc.string()), (task_id) => {
      const bases = [...portBases(task_id)]
      expect(bases.toSorted((a, b) => a - b)).toEqual(all)
      expect(bases).toEqual([...portBases(task_id)])
    }),
    { numRuns: 50 },
  )
  const ports = all.flatMap((base) => portsFrom(base))
  expect(new Set(ports).size).toBe(all.length * portsPerWorktree)
  // Linux assigns ephemeral ports from 32768 on.
  expect([ports[0], ports.at(-1)]).toEqual([20_000, 32_759])
})

test('starts tasks that were created in a row at distant ranges', () => {
  const first = (task_id: string) => portBases(task_id).next().value
  expect(first('019ab000-0000-7000-8000-0000000004fc')).toBe(20_000)
  expect(first('019ab000-0000-7000-8000-0000000004fb')).toBe(32_750)
  expect(first('019ab000-0000-7000-8000-000000000007')).toBe(20_070)
})
