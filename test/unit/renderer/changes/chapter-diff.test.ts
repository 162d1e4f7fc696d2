import { expect, test } from 'vitest'
import { chapterDiff, hunkNotes, hunkOfNote, notesOf } from '../../../../src-renderer/features/changes/chapter-diff.ts'
import type { ChapterHunk } from '../../../../src-renderer/model/chapters.ts'
import type { Chapter } from '../../../../src-shared/contract/chapters.ts'
import type { DiffFile } from '../../../../src-shared/contract/workspaces.ts'

const head = 'diff --git a/a.ts b/a.ts\nindex 1..2 100644\n--- a/a.ts\n+++ b/a.ts\n'
const first = '@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n'
const second = '@@ -9,2 +9,3 @@\n 9\n+more\n 10\n'
const b = 'diff --git a/b.ts b/b.ts\nindex 1..2 100644\n--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-b\n+c\n'

const file = (path: string, more: Partial<DiffFile> = {}): DiffFile => ({
  path,
  old_path: null,
  status: 'modified',
  old_mode: '100644',
  new_mode: '100644',
  blob: '2',
  additions: 2,
  deletions: 1,
  binary: false,
  truncated: false,
  reason: null,
  viewed: false,
  ...more,
})
const hunk = (id: string, path: string, old: [number, number], now: [number, number]): ChapterHunk => ({
  ...{ id, path, old, new: now, cause: 'lines', kind: 'core', from: null, viewed: false },
})
const a1 = hunk('a1', 'a.ts', [2, 1], [2, 1])
const a2 = hunk('a2', 'a.ts', [9, 0], [10, 1])
const b1 = hunk('b1', 'b.ts', [1, 1], [1, 1])
const chapter = (id: string, hunks: ChapterHunk[]): Chapter => ({
  ...{ id, title: id, why: '', kind: 'core', folded: false, hunks },
})
const one = chapter('one', [b1, a2])
const two = chapter('two', [a1])
const told = {
  chapters: {
    tree: 't',
    source: 'rules' as const,
    pending: false,
    by: null,
    chapters: [one, two],
    risks: [],
    rejected: null,
  },
  files: new Map([file('a.ts'), file('b.ts', { additions: 1 })].map((each) => [each.path, each])),
  patches: new Map([
    ['a.ts', head + first + second],
    ['b.ts', b],
  ]),
}

test('shows a chapter’s files in its order, each with the chapter’s hunks alone', () => {
  const shown = chapterDiff(one, told)
  expect(shown.files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
    ['b.ts', 1, 1],
    ['a.ts', 1, 0],
  ])
  expect(shown.patches.join('')).toBe(b + head + second)
  expect(chapterDiff(two, told).patches.join('')).toBe(head + first)
})

test('shows files without lines, and those that are not loaded', () => {
  const files = new Map([...told.files, ['a.ts', file('a.ts', { truncated: true, reason: 'budget' })]])
  const shown = chapterDiff(one, { ...told, files, patches: new Map([['b.ts', b]]) })
  expect(shown.files.map(({ path, truncated }) => [path, truncated])).toEqual([
    ['b.ts', false],
    ['a.ts', true],
  ])
  expect(shown.patches.join('')).toBe(b)
})

test('has a note below each change, and comments in the chapter that is nearest', () => {
  expect(hunkNotes([a1, { ...b1, cause: 'binary' }])).toEqual([{ path: 'a.ts', side: 'new', line: 2, key: 'hunk/a1' }])
  const comment = (line: number) => ({ path: 'a.ts', side: 'new' as const, line, key: `comment ${line}` })
  const notes = [comment(1), comment(40)]
  expect(notesOf(one, [one, two], notes)).toEqual([comment(40)])
  expect(notesOf(two, [one, two], notes)).toEqual([comment(1)])
  expect([hunkOfNote(comment(1)), ...hunkNotes([a1]).map(hunkOfNote)]).toEqual([null, 'a1'])
})
