import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ConflictHunk } from '../../../../src-shared/contract/conflicts.ts'
import { fitHunks } from '../../../../src-main/workspaces/rules/fit-hunks.ts'

const hunk = (text: string | null, truncated = false): ConflictHunk => ({
  path: 'a.txt',
  kind: 'content',
  line: text === null ? null : 1,
  text,
  truncated,
})

test('keeps what fits', () => {
  const hunks = [hunk('one'), hunk(null), hunk('three', true)]
  expect(fitHunks(hunks, { hunks: 3, each: 5, all: 8 })).toEqual(hunks)
})

test('marks a cut text, and drops one for which no room is left', () => {
  expect(fitHunks([hunk('abcdef'), hunk('ghi'), hunk('jkl')], { hunks: 9, each: 4, all: 6 })).toEqual(
    [hunk('abcd', true), hunk('gh', true), hunk(null, true)].map((one) => ({ ...one, line: 1 })),
  )
})

test('does not cut a surrogate pair in half', () => {
  expect(fitHunks([hunk('ab😀')], { hunks: 1, each: 3, all: 9 })[0]?.text).toBe('ab')
})

test('stays within the budget, and keeps only beginnings of texts', () => {
  const one = fc.record({ text: fc.option(fc.string({ unit: 'grapheme', maxLength: 40 })), truncated: fc.boolean() })
  const budget = fc.record({ hunks: fc.nat(6), each: fc.nat(30), all: fc.nat(60) })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 10 }), budget, (given, limits) => {
      const hunks = given.map(({ text, truncated }) => hunk(text, truncated))
      const fitted = fitHunks(hunks, limits)
      expect(fitted).toHaveLength(Math.min(hunks.length, limits.hunks))
      expect(fitted.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)).toBeLessThanOrEqual(limits.all)
      for (const [index, { text, truncated }] of fitted.entries()) {
        const before = hunks[index]
        expect((before?.text ?? '').startsWith(text ?? '')).toBe(true)
        expect((text ?? '').length).toBeLessThanOrEqual(limits.each)
        expect(truncated).toBe(before?.truncated === true || (text ?? '') !== (before?.text ?? ''))
      }
    }),
  )
})
