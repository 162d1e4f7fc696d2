import { parsePatchFiles } from '@pierre/diffs'
import { expect, test } from 'vitest'
import { diffItems } from '../../../../src-renderer/components/diff/diff-items.ts'
import { LONGEST_LINE } from '../../../../src-renderer/components/diff/diff-lines.ts'
import { lineBeside, linesIn, showsLine } from '../../../../src-renderer/components/diff/diff-lines.ts'
import { placeOf, rangeOf, withAnnotations } from '../../../../src-renderer/components/diff/diff-notes.ts'
import { attemptBefore, scopesOf } from '../../../../src-renderer/features/changes/diff-scope.ts'
import { isGenerated } from '../../../../src-renderer/features/changes/generated-files.ts'
import { readPlace } from '../../../../src-renderer/features/changes/line-annotations.ts'
import type { Review } from '../../../../src-shared/contract/reviews.ts'

const patch = `diff --git a/a.ts b/a.ts
index 1..2 100644
--- a/a.ts
+++ b/a.ts
@@ -3,4 +3,4 @@
 three
-four
-five
+FOUR
+FIVE
 six
`
const file = {
  path: 'a.ts',
  old_path: null,
  status: 'modified',
  additions: 2,
  deletions: 2,
  binary: false,
  truncated: false,
  reason: null,
} as const
const item = diffItems([file], [patch])[0]
if (!item) throw new Error('The patch has no file.')

test('walks lines from top to bottom, removed before added, within the file', () => {
  const walked = [...linesIn(item.fileDiff)].map(({ side, line }) => `${side} ${line}`)
  expect(walked).toEqual(['new 3', 'old 4', 'old 5', 'new 4', 'new 5', 'new 6'])
  expect(lineBeside(item.fileDiff, null, 1)).toMatchObject({ side: 'new', line: 3 })
  expect(lineBeside(item.fileDiff, { side: 'old', line: 5 }, 1)).toMatchObject({ side: 'new', line: 4 })
  expect(lineBeside(item.fileDiff, { side: 'new', line: 4 }, -1)).toMatchObject({ side: 'old', line: 5 })
  expect(lineBeside(item.fileDiff, null, -1)).toMatchObject({ side: 'new', line: 6 })
  expect(lineBeside(item.fileDiff, { side: 'new', line: 6 }, 1)).toBeNull()
})

test('shows a comment on a line outside the diff above the file, and redraws for a new one', () => {
  expect(showsLine(item.fileDiff, 'old', 4)).toBe(true)
  expect(showsLine(item.fileDiff, 'new', 7)).toBe(false)
  const noted = withAnnotations(item, [
    { key: 'one', path: 'a.ts', side: 'old', line: 5 },
    { key: 'two', path: 'a.ts', side: 'new', line: 90 },
  ])
  expect(noted.annotations?.map(({ side, lineNumber }) => [side, lineNumber])).toEqual([
    ['deletions', 5],
    ['additions', 0],
  ])
  expect(noted.version).not.toBe(item.version)
  expect(withAnnotations(item, []).version).toBe(item.version)
})

test('normalizes lines chosen upwards, and takes the last of two sides', () => {
  const place = { path: 'a', side: 'new', start_line: 3, line: 7 } as const
  expect(placeOf('a', { start: 7, side: 'additions', end: 3, endSide: 'additions' })).toEqual(place)
  expect(placeOf('a', rangeOf(place))).toEqual(place)
  expect(placeOf('a', { start: 7, side: 'deletions', end: 3, endSide: 'additions' })).toEqual({
    path: 'a',
    side: 'new',
    line: 3,
  })
})

test('keeps the place of a draft, and drops an invalid one', () => {
  const place = { path: 'a', side: 'old', line: 2 } as const
  expect(readPlace(JSON.stringify(place))).toEqual(place)
  for (const text of [null, '', 'null', '{}', '{"path":"a","side":"up","line":1}']) expect(readPlace(text)).toBeNull()
})

test('cuts a line of 5 MB and says how many characters are left out', () => {
  const long = patch.replace('+FOUR', `+${'x'.repeat(5_000_000)}`)
  const [cut] = diffItems([file], [long])
  const line = cut?.fileDiff.additionLines.find((text) => text.startsWith('x')) ?? ''
  expect(line.length).toBeLessThan(LONGEST_LINE + 100)
  expect(line.slice(-32)).toContain('… 4,990,000 more characters\n')
  expect(parsePatchFiles(patch)[0]?.files[0]?.additionLines).toEqual(item.fileDiff.additionLines)
})

test('recognizes generated files by name or folder', () => {
  const generated = [
    'package-lock.json',
    'web/yarn.lock',
    'a.min.js',
    'x/vendor/y.go',
    'api/v1.pb.go',
    'a.test.ts.snap',
  ]
  expect(generated.filter(isGenerated)).toEqual(generated)
  expect(['package.json', 'src/lock.ts', 'distance/a.ts', 'vendors.ts'].filter(isGenerated)).toEqual([])
})

test('compares “since” with the attempt before the current one, or with the last during rework', () => {
  const review = (attempt_number: number, head: string | null = 'c') => ({ attempt_number, head }) as Review
  expect(attemptBefore([], true)).toBeNull()
  expect(attemptBefore([review(1)], true)).toBeNull()
  expect(attemptBefore([review(1)], false)).toBe(1)
  expect(attemptBefore([review(3), review(2, null), review(1)], true)).toBe(1)
  expect(scopesOf(null, false).map(({ label }) => label)).toEqual(['Whole branch', 'Uncommitted'])
  expect(scopesOf(2, true).map(({ label }) => label)).toEqual([
    'Whole branch',
    'Since attempt 2',
    'Since I last looked',
    'Uncommitted',
  ])
})
