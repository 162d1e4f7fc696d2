import { parsePatchFiles } from '@pierre/diffs'
import { expect, test } from 'vitest'
import { lineAfter } from '../../../../src-renderer/components/diff/diff-lines.ts'
import { placeThreads, readChangesSince } from '../../../../src-renderer/features/changes/place-threads.ts'
import { threadPlace } from '../../../../src-renderer/model/thread-place.ts'
import type { Diff, DiffFile } from '../../../../src-shared/contract/workspaces.ts'
import { threadOf } from '../pull-request-fixture.ts'

const head = '8e02c4f0000000000000000000000000000000aa'
const fileOf = (path: string, more: Partial<DiffFile> = {}): DiffFile => ({
  path,
  old_path: null,
  status: 'modified',
  old_mode: '100644',
  new_mode: '100644',
  blob: null,
  additions: 2,
  deletions: 1,
  binary: false,
  truncated: false,
  reason: null,
  viewed: false,
  ...more,
})
const diffOf = (files: readonly DiffFile[], patch = '', base: string = head): Diff => ({
  base,
  head: null,
  tree: null,
  files: [...files],
  patch,
  truncated: false,
})
const nothingSince = readChangesSince(diffOf([]), head)
// Two lines before the fourth, the tenth without the eleventh, and nothing left of the last.
const patch = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3,0 +4,2 @@
+new
+new
@@ -9,4 +11,3 @@
 nine
-ten
-eleven
+TEN
 twelve
@@ -30 +30,0 @@
-thirty
`

test('says which line an unchanged one became', () => {
  const file = parsePatchFiles(patch)[0]?.files[0]
  if (!file) throw new Error('The patch has no file.')
  const moves = [1, 3, 4, 8, 9, 10, 11, 12, 13, 29, 30, 31].map((line) => lineAfter(file, line))
  expect(moves).toEqual([1, 3, 6, 10, 11, null, null, 13, 14, 30, null, 31])
})

test('puts a thread at its line, where work since its commit has moved it', () => {
  const files = [fileOf('src/a.ts'), fileOf('src/now.ts', { old_path: 'src/then.ts' })]
  const since = readChangesSince(diffOf(files, patch), head)
  const threads = [
    threadOf('moved', ['rita'], { line: 12 }),
    threadOf('changed', ['rita'], { line: 10 }),
    threadOf('gone', ['rita'], { line: null, outdated: true }),
    threadOf('before', ['rita'], { line: 5, side: 'old' }),
    threadOf('late', ['rita'], { line: 2, outdated: true, resolved: true }),
    threadOf('renamed', ['rita'], { path: 'src/then.ts', line: null }),
    threadOf('whole', ['rita'], { path: null, line: null }),
  ]
  const { notes, byKey, unplaced, counts } = placeThreads(threads, files, since, true)
  expect(notes.map(({ key, path, side, line }) => `${key} ${path} ${side} ${line}: ${byKey.get(key)?.place}`)).toEqual([
    'forge/moved src/a.ts new 13: Line 13',
    'forge/changed src/a.ts new 0: Its line has changed here',
    'forge/gone src/a.ts new 0: Its line is gone',
    'forge/before src/a.ts old 5: Line 5 before the change',
    'forge/late src/a.ts new 2: Line 2, outdated',
    'forge/renamed src/now.ts new 0: Its line is gone',
  ])
  expect(unplaced).toEqual([])
  expect([...counts]).toEqual([
    ['src/a.ts', 4],
    ['src/now.ts', 1],
  ])
  // Against another commit, the old side has other lines.
  expect(placeThreads(threads, files, since, false).notes[3]).toMatchObject({ line: 0 })
})

test('names no line that it can’t know, and lists threads on files without lines', () => {
  const since = readChangesSince(diffOf([], '', 'another commit'), head)
  expect(since).toBeNull()
  const files = [fileOf('src/a.ts'), fileOf('large.txt', { reason: 'too_large', truncated: true })]
  const threads = [
    threadOf('here', ['rita'], { line: 8 }),
    threadOf('large', ['rita'], { path: 'large.txt', line: 9 }),
    threadOf('elsewhere', ['rita'], { path: 'other.ts', line: 3 }),
    threadOf('done', ['rita'], { path: 'other.ts', line: 4, resolved: true }),
  ]
  const unknown = placeThreads(threads, files, since, true)
  expect(unknown.notes).toMatchObject([{ path: 'src/a.ts', line: 0 }])
  expect(unknown.byKey.get('forge/here')?.place).toBe('Line 8, in a commit that isn’t here')
  const known = placeThreads(threads, files, nothingSince, true)
  expect(known.notes).toMatchObject([{ path: 'src/a.ts', line: 8 }])
  expect(known.unplaced.map(({ place }) => place)).toEqual(['large.txt, line 9', 'other.ts, line 3'])
})

test('says where a thread is', () => {
  const place = (more: Parameters<typeof threadOf>[2]) => threadPlace(threadOf('t', ['rita'], more))
  expect(place({ line: 8 })).toBe('Line 8')
  expect(place({ line: 8, side: 'old', outdated: true })).toBe('Line 8 before the change, outdated')
  expect(place({ line: null })).toBe('Its line is gone')
  expect(place({ path: null, line: null })).toBe('')
})
