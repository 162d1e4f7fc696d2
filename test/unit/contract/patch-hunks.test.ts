import { expect, test } from 'vitest'
import { keepRuns, splitFiles, type PatchRun } from '../../../src-shared/contract/patch-hunks.ts'

const head = 'diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n'
const section = (heading: string, ...lines: string[]) => `${[heading, ...lines].join('\n')}\n`
/** Keeps the runs that begin at these new lines. */
const at =
  (...lines: number[]) =>
  (run: PatchRun) =>
    lines.includes(run.new[0])

const two = section('@@ -2,9 +2,10 @@ name()', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', '+more', ' 8', ' 9', ' 10')

test('splits a patch by its files, whatever their lines say', () => {
  const one = `${head}${section('@@ -1 +1 @@', '-diff --git a/x b/x', '+diff --git a/y b/y')}`
  const binary = 'diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\n'
  expect(splitFiles(one + binary + one)).toEqual([one, binary, one])
  expect(splitFiles('')).toEqual([])
})

test('keeps a section as it is if all of its runs are kept', () => {
  expect(keepRuns(head + two, at(5, 8))).toBe(head + two)
  expect(keepRuns(head + two, at())).toBeNull()
})

test('cuts a section beside runs that are left out', () => {
  const first = section('@@ -2,6 +2,6 @@ name()', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7')
  const second = section('@@ -6,5 +6,6 @@ name()', ' 6', ' 7', '+more', ' 8', ' 9', ' 10')
  expect(keepRuns(head + two, at(5))).toBe(head + first)
  expect(keepRuns(head + two, at(8))).toBe(head + second)
})

test('shortens lines between runs to those that belong to one', () => {
  const between = [' 2', ' 3', ' 4', ' 5', ' 6']
  const far = section('@@ -1,7 +1,7 @@', '-1', '+one', ...between, '-7', '+seven')
  expect(keepRuns(head + far, at(7))).toBe(head + section('@@ -4,4 +4,4 @@', ' 4', ' 5', ' 6', '-7', '+seven'))
  expect(keepRuns(head + far, at(1))).toBe(head + section('@@ -1,4 +1,4 @@', '-1', '+one', ' 2', ' 3', ' 4'))
})

test('numbers sides without lines as git does', () => {
  const added = section('@@ -0,0 +1,2 @@', '+a', '+b')
  const seen: PatchRun[] = []
  keepRuns(head + added, (run) => seen.push(run) > 0)
  expect(seen).toEqual([{ old: [0, 0], new: [1, 2] }])
  const removed = section('@@ -3,2 +2,0 @@', '-a', '-b')
  keepRuns(head + removed, (run) => seen.push(run) > 0)
  expect(seen.at(-1)).toEqual({ old: [3, 2], new: [2, 0] })
  const inside = section('@@ -1,2 +1,3 @@', '-a', '+b', ' c', '+d')
  keepRuns(head + inside, (run) => seen.push(run) > 0)
  expect(seen.slice(-2)).toEqual([
    { old: [1, 1], new: [1, 1] },
    { old: [2, 0], new: [3, 1] },
  ])
  expect(keepRuns(head + inside, at(3))).toBe(head + section('@@ -2 +2,2 @@', ' c', '+d'))
})

test('leaves the end of a file with its line', () => {
  const end = section('@@ -1,3 +1,3 @@', '-a', '+b', ' c', '-d', '\\ No newline at end of file', '+e')
  expect(keepRuns(head + end, at(3))).toBe(
    head + section('@@ -2,2 +2,2 @@', ' c', '-d', '\\ No newline at end of file', '+e'),
  )
  expect(keepRuns(head + end, at(1))).toBe(head + section('@@ -1,2 +1,2 @@', '-a', '+b', ' c'))
})

test('takes the next section by the counts of the one before', () => {
  const first = section('@@ -1 +1 @@', '--- a', '+++ b')
  const second = section('@@ -9 +9 @@', '-x', '+y')
  expect(keepRuns(head + first + second, at(9))).toBe(head + second)
  expect(keepRuns('diff --git a/b b/b\nold mode 100644\nnew mode 100755\n', () => true)).toBeNull()
})
