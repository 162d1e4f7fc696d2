import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkPartition } from '../../../../src-main/chapters/rules/check-partition.ts'

test('accepts a partition, in any order, with empty chapters', () => {
  expect(checkPartition([], [])).toBeNull()
  expect(checkPartition([{ hunks: ['b'] }, { hunks: [] }, { hunks: ['c', 'a'] }], ['a', 'b', 'c'])).toBeNull()
})

test('names what is missing, told twice and invented', () => {
  const chapters = [{ hunks: ['a', 'a', 'x'] }, { hunks: ['b', 'x'] }, { hunks: ['b', 'a'] }]
  expect(checkPartition(chapters, ['a', 'b', 'c'])).toEqual({ missing: ['c'], duplicate: ['a', 'b'], unknown: ['x'] })
})

test('accepts every way to divide the hunks, and no list with one fault', () => {
  const divided = fc
    .uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 30 })
    .chain((ids) =>
      fc.record({
        ids: fc.constant(ids),
        places: fc.array(fc.nat(5), { minLength: ids.length, maxLength: ids.length }),
      }),
    )
    .map(({ ids, places }) => ({
      ids,
      chapters: [0, 1, 2, 3, 4, 5].map((chapter) => ({ hunks: ids.filter((_, at) => places[at] === chapter) })),
    }))
  fc.assert(
    fc.property(divided, fc.nat(), ({ ids, chapters }, pick) => {
      expect(checkPartition(chapters, ids)).toBeNull()
      const one = ids[pick % ids.length]
      expect(checkPartition([...chapters, { hunks: ['no hunk has seven'] }], ids)).toEqual({
        missing: [],
        duplicate: [],
        unknown: ['no hunk has seven'],
      })
      if (one === undefined) return
      expect(checkPartition([...chapters, { hunks: [one] }], ids)).toEqual({
        missing: [],
        duplicate: [one],
        unknown: [],
      })
      const without = chapters.map(({ hunks }) => ({ hunks: hunks.filter((id) => id !== one) }))
      expect(checkPartition(without, ids)).toEqual({ missing: [one], duplicate: [], unknown: [] })
    }),
    { numRuns: 2_000 },
  )
})
