import { expect, test } from 'vitest'
import { layoutOfFile } from '../../../../../src-renderer/components/diff/diff-layout.ts'

test.each([
  [{ additions: 31, deletions: 0 }, 'unified'],
  [{ additions: 31, deletions: 3 }, 'unified'],
  [{ additions: 2, deletions: 40 }, 'unified'],
  [{ additions: 31, deletions: 4 }, 'split'],
  [{ additions: 1, deletions: 1 }, 'split'],
] as const)('lays out %o so that no half of the width is nearly empty', (file, layout) => {
  expect(layoutOfFile('fitting', file)).toBe(layout)
})

test('keeps the layout that a person chose for every file', () => {
  const file = { additions: 31, deletions: 0 }
  expect([layoutOfFile('split', file), layoutOfFile('unified', file)]).toEqual(['split', 'unified'])
})
