import { expect, test } from 'vitest'
import { changePlaces, nextPlace } from '../../../../../src-renderer/components/diff/change-steps.ts'
import { diffItems, type DiffViewFile } from '../../../../../src-renderer/components/diff/diff-items.ts'

const file = (path: string): DiffViewFile => ({
  path,
  old_path: null,
  status: 'modified',
  additions: 1,
  deletions: 1,
  binary: false,
  truncated: false,
  reason: null,
})
const head = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`
const patch = [
  head('a.txt'),
  '@@ -1,5 +1,4 @@\n one\n-two\n+2\n three\n four\n-five\n',
  '@@ -20,2 +19,3 @@\n twenty\n+more\n end\n',
  head('b.txt'),
  '@@ -1 +1 @@\n-old\n+new\n',
].join('')
const places = changePlaces(diffItems([file('a.txt'), file('b.txt')], [patch]))

test('stops at every run of changed lines, on the new side if there is one', () => {
  expect(places).toEqual([
    { id: 'a.txt', lineNumber: 2, side: 'additions' },
    { id: 'a.txt', lineNumber: 5, side: 'deletions' },
    { id: 'a.txt', lineNumber: 20, side: 'additions' },
    { id: 'b.txt', lineNumber: 1, side: 'additions' },
  ])
})

test('starts in the current file, continues in the next and ends', () => {
  const order = ['a.txt', 'aa.bin', 'b.txt', 'c.bin']
  const [first, second, third, last] = places.map((place) => place)
  expect(nextPlace(places, null, 'a.txt', 1, order)).toBe(first)
  expect(nextPlace(places, first ?? null, 'a.txt', 1, order)).toBe(second)
  expect(nextPlace(places, third ?? null, 'a.txt', 1, order)).toBe(last)
  expect(nextPlace(places, last ?? null, 'b.txt', 1, order)).toBeNull()
  expect(nextPlace(places, null, 'b.txt', -1, order)).toBe(third)
  expect(nextPlace(places, third ?? null, 'b.txt', 1, order)).toBe(last)
  // Files without visible changes are skipped in both directions.
  expect(nextPlace(places, null, 'aa.bin', 1, order)).toBe(last)
  expect(nextPlace(places, null, 'aa.bin', -1, order)).toBe(third)
  expect(nextPlace(places, null, 'c.bin', 1, order)).toBeNull()
  expect(nextPlace(places, null, 'c.bin', -1, order)).toBe(last)
})
