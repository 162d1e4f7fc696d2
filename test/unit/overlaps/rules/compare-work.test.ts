import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  canConflict,
  nearFiles,
  type ChangedFile,
  type LineRange,
} from '../../../../src-main/overlaps/rules/compare-work.ts'

const edited = (path: string, ...lines: LineRange[]): ChangedFile => ({
  path,
  old_path: null,
  is_added: false,
  blob: `${path} ${JSON.stringify(lines)}`,
  lines,
})
const added = (path: string): ChangedFile => ({ ...edited(path), is_added: true })
const deleted = (path: string): ChangedFile => ({ ...edited(path), blob: null })
const renamed = (old_path: string, path: string, ...lines: LineRange[]): ChangedFile => ({
  ...edited(path, ...lines),
  old_path,
})
const at = (from: number, to = from): LineRange => ({ from, to })
/** Lines that are only added, after this one. */
const after = (line: number): LineRange => ({ from: line, to: line - 1 })

test.each<[string, readonly ChangedFile[], readonly ChangedFile[], boolean]>([
  ['nothing and nothing', [], [], false],
  ['other files', [edited('a')], [edited('b')], false],
  ['other files of one folder', [edited('d/a')], [edited('d/b')], false],
  ['one file, far apart', [edited('a', at(1))], [edited('a', at(99))], true],
  ['the same new file', [added('a')], [added('a')], true],
  ['a deletion and an edit', [deleted('a')], [edited('a')], true],
  ['a rename and an edit of the old name', [renamed('a', 'b')], [edited('a')], true],
  ['a rename onto a new file', [renamed('a', 'b')], [added('b')], true],
  ['two renames of one file', [renamed('a', 'b')], [renamed('a', 'c')], true],
  ['two renames to one name', [renamed('a', 'c')], [renamed('b', 'c')], true],
  ['a file where the other has a folder', [added('a')], [added('a/b/c')], true],
  ['a name that only begins alike', [added('a')], [added('ab/c')], false],
  ['a new file in a folder that moved', [renamed('old/a', 'new/a')], [added('old/b')], true],
  ['a new file below a folder that moved', [renamed('old/a', 'new/a')], [added('old/deep/b')], true],
  ['a file moved into a folder that moved', [renamed('old/a', 'new/a')], [renamed('c', 'old/c')], true],
  ['a new file beside a folder whose parent moved', [renamed('x/sub/a', 'y/sub/a')], [added('x/b')], true],
  ['a new file where all of the top moved', [renamed('a', 'new/a')], [added('b')], true],
  ['a new file elsewhere than a folder that moved', [renamed('old/a', 'new/a')], [added('other/b')], false],
  ['an edit beside a folder that moved', [renamed('old/a', 'new/a')], [edited('old/b')], false],
])('%s', (_, one, other, expected) => {
  expect([canConflict(one, other), canConflict(other, one)]).toEqual([expected, expected])
})

test.each<[string, readonly ChangedFile[], readonly ChangedFile[], readonly string[]]>([
  ['three lines apart', [edited('a', at(10))], [edited('a', at(13))], ['a']],
  ['four lines apart', [edited('a', at(10))], [edited('a', at(14))], []],
  ['three lines behind a range', [edited('a', at(1, 10))], [edited('a', at(13, 20))], ['a']],
  ['inside a range', [edited('a', at(1, 10))], [edited('a', at(5))], ['a']],
  ['lines added three lines behind', [edited('a', at(10))], [edited('a', after(13))], ['a']],
  ['lines added four lines behind', [edited('a', at(10))], [edited('a', after(14))], []],
  ['lines added at the top and a change of line 4', [edited('a', after(0))], [edited('a', at(4))], []],
  ['lines added at the top and a change of line 3', [edited('a', after(0))], [edited('a', at(3))], ['a']],
  ['one of several ranges', [edited('a', at(1), at(50))], [edited('a', at(20), at(52))], ['a']],
  ['the same change', [edited('a', at(10))], [edited('a', at(10))], []],
  ['the same line of other files', [edited('a', at(10))], [edited('b', at(10))], []],
  ['a renamed file, by its name on this side', [renamed('a', 'b', at(10))], [edited('a', at(11))], ['b']],
  ['files that both add', [added('a')], [added('a')], []],
  ['a binary file', [{ ...edited('a'), lines: null }], [edited('a', at(1))], []],
])('near each other: %s', (_, one, other, expected) => {
  expect(nearFiles(one, other)).toEqual(expected)
})

const name = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/c', 'a/x')
const range = fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 4 })).map(([from, count]) => at(from, from + count - 1))
const file = fc
  .record({
    path: name,
    old_path: fc.option(name),
    is_added: fc.boolean(),
    blob: fc.option(fc.constantFrom('1', '2', '3')),
    lines: fc.option(fc.array(range, { maxLength: 3 })),
  })
  // Only a file without another name is new.
  .map((one): ChangedFile => (one.old_path === null ? one : { ...one, is_added: false }))
const oldName = ({ path, old_path }: ChangedFile): string => old_path ?? path
const work = fc.uniqueArray(file, { selector: oldName, maxLength: 4 })

test('is symmetric, and looks only at files with the same base that can conflict', () => {
  fc.assert(
    fc.property(work, work, (one, other) => {
      expect(canConflict(one, other)).toBe(canConflict(other, one))
      const bases = (files: readonly ChangedFile[], near: readonly string[]) =>
        files
          .filter(({ path }) => near.includes(path))
          .map(oldName)
          .toSorted()
      const [near, back] = [nearFiles(one, other), nearFiles(other, one)]
      const isUnique = [one, other].every((all) => new Set(all.map(({ path }) => path)).size === all.length)
      if (isUnique) expect(bases(one, near)).toEqual(bases(other, back))
      if (near.length > 0) expect(canConflict(one, other)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('counts lines as near if at most three lie between their numbers', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 4 }), fc.array(range, { maxLength: 4 }), (mine, theirs) => {
      const touched = (ranges: readonly LineRange[]) =>
        ranges.flatMap(({ from, to }) => Array.from({ length: Math.max(1, to - from + 1) }, (_, n) => from + n))
      const expected = touched(mine).some((one) => touched(theirs).some((other) => Math.abs(one - other) <= 3))
      const near = nearFiles([edited('a', ...mine)], [{ ...edited('a', ...theirs), blob: 'other' }])
      expect(near).toEqual(expected ? ['a'] : [])
    }),
  )
})
