import { expect, test } from 'vitest'
import { createGrowingIds } from '../../../src-main/platform/growing-ids.ts'

test('makes IDs that grow although the clock goes back, in one process and over a restart', () => {
  const times = [1_000, 1_000, 900, 2_000, 10, 10]
  const newId = createGrowingIds(null, () => times.shift() ?? 10)
  const made = Array.from({ length: 6 }, newId)
  const restarted = createGrowingIds(made.at(-1) ?? null, () => 10)
  made.push(restarted(), restarted())
  expect(made.toSorted()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
})
