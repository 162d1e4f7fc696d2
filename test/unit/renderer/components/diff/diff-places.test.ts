import { expect, test } from 'vitest'
import { lastAbove } from '../../../../../src-renderer/components/diff/diff-current.ts'
import { diffItems } from '../../../../../src-renderer/components/diff/diff-items.ts'
import { lineNow } from '../../../../../src-renderer/components/diff/diff-lines.ts'

const patch = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,5 +1,4 @@
 one
-two
-three
+2
 four
 five
@@ -20,3 +19,4 @@
 twenty
+more
 end
 last
`

test('opens a removed line at its replacement, and an unchanged one where it is now', () => {
  const [item] = diffItems(
    [
      {
        path: 'a.txt',
        old_path: null,
        status: 'modified',
        additions: 2,
        deletions: 2,
        binary: false,
        truncated: false,
        reason: null,
      },
    ],
    [patch],
  )
  const now = (line: number) => item && lineNow(item.fileDiff, 'old', line)
  expect([1, 2, 3, 4, 5, 20, 21].map(now)).toEqual([1, 2, 2, 3, 4, 19, 21])
  expect(item && lineNow(item.fileDiff, 'new', 3)).toBe(3)
})

test('finds the top file among thousands in a few steps', () => {
  const items = Array.from({ length: 2_000 }, (_, n) => ({ id: String(n) }))
  let looks = 0
  const topOf = (id: string) => {
    looks += 1
    return Number(id) * 100
  }
  expect(lastAbove(items, topOf, 123_456)).toBe('1234')
  expect(looks).toBeLessThan(20)
  expect(lastAbove(items, topOf, -5)).toBe('0')
  expect(lastAbove(items, topOf, 1e9)).toBe('1999')
  expect(lastAbove([], topOf, 0)).toBeUndefined()
})
