import { expect, test } from 'vitest'
import { changeAt } from '../../../src-main/git/commands/line-changes.ts'

const patch = (...lines: readonly string[]) => ['diff --git a/x b/x', '--- a/x', '+++ b/x', ...lines, ''].join('\n')

test('shows a replaced line and its new place', () => {
  const text = patch('@@ -0,0 +1 @@', '+top', '@@ -3 +4 @@', '-three', '+drei')
  expect(changeAt(text, { from: 3, to: 3 })).toEqual({ line: 4, before: ['three'], after: ['drei'] })
  expect(changeAt(text, { from: 2, to: 2 })).toBeNull()
  expect(changeAt(text, { from: 1, to: 1 })).toBeNull()
})

test('shows a change of several lines whole', () => {
  const text = patch('@@ -2,3 +2,2 @@', '-two', '-three', '-four', '+2', '+3')
  expect(changeAt(text, { from: 3, to: 3 })).toEqual({ line: 3, before: ['two', 'three', 'four'], after: ['2', '3'] })
})

test('finds no place for removed lines', () => {
  expect(changeAt(patch('@@ -3 +2,0 @@', '-three'), { from: 3, to: 3 })).toEqual({
    line: null,
    before: ['three'],
    after: [],
  })
})

test('includes the lines between changes, and what was put there', () => {
  const text = patch('@@ -1,4 +1,5 @@', ' one', '-two', '+zwei', ' three', '+between', ' four')
  expect(changeAt(text, { from: 2, to: 4 })).toEqual({
    line: 5,
    before: ['two', 'three', 'four'],
    after: ['zwei', 'three', 'between', 'four'],
  })
  // Lines below the last one belong to no change.
  expect(changeAt(text, { from: 3, to: 3 })).toBeNull()
})

test('takes a line that looks like a patch header for a line', () => {
  expect(changeAt(patch('@@ -2 +2 @@', '--- a', '+++ b'), { from: 2, to: 2 })).toEqual({
    line: 2,
    before: ['-- a'],
    after: ['++ b'],
  })
})
