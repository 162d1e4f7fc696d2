import { describe, expect, test } from 'vitest'
import {
  chapterAfter,
  chapterOfLine,
  lineOf,
  newHunks,
  nextUnread,
  readingOrder,
  readingProgress,
  sizeText,
  tellerOf,
  unreadText,
  type ChapterHunk,
} from '../../../../src-renderer/model/chapters.ts'
import type { Chapter, ChapterRisk } from '../../../../src-shared/contract/chapters.ts'

const hunk = (id: string, path: string, line = 1, more: Partial<ChapterHunk> = {}): ChapterHunk => ({
  id,
  path,
  cause: 'lines',
  old: [line, 1],
  new: [line, 1],
  kind: 'core',
  from: null,
  viewed: false,
  ...more,
})
const chapter = (id: string, hunks: readonly ChapterHunk[], folded = false): Chapter => ({
  id,
  title: id,
  why: '',
  kind: folded ? 'moved' : 'core',
  folded,
  hunks: [...hunks],
})
const risk = (id: string): ChapterRisk => ({ kind: 'ci', level: 'high', text: '', path: '', line: null, hunk: id })
const read =
  (...ids: string[]) =>
  ({ id }: ChapterHunk) =>
    ids.includes(id)

const one = chapter('one', [hunk('a2', 'a.ts', 20), hunk('b1', 'b.ts'), hunk('a1', 'a.ts', 2)])
const two = chapter('two', [hunk('c1', 'c.ts')])
const moved = chapter('moved', [hunk('m1', 'm.ts')], true)
const all = [one, two, moved]

describe('reading', () => {
  test('goes file by file in the order of the chapters, without those that are folded', () => {
    expect(readingOrder(all).map((place) => `${place.chapter.id} ${place.hunk.id}`)).toEqual([
      'one a1',
      'one a2',
      'one b1',
      'two c1',
    ])
  })
  test('counts what is read, and what of the rest has risks', () => {
    const progress = readingProgress(all, [risk('a1'), risk('a1'), risk('b1'), risk('m1')], read('a1', 'm1'))
    expect(progress).toEqual({ total: 4, read: 1, unread: 3, risky: 1 })
  })
  test('says what is not read', () => {
    const text = (unread: number, risky: number, total = 20) =>
      unreadText({ total, read: total - unread, unread, risky })
    expect(text(12, 2)).toBe('12 changes not read, 2 with risks')
    expect(text(1, 1)).toBe('1 change not read, 1 with a risk')
    expect(text(3, 0)).toBe('3 changes not read')
    expect(text(0, 0)).toBe('All 20 changes read')
    expect(text(0, 0, 1)).toBe('The change is read')
    expect(text(0, 0, 0)).toBe('No changes to read')
  })
  test('goes on after the current change, and from the first after the last', () => {
    const next = (from: { chapter: string | null; hunk: string | null }, ...ids: string[]) =>
      nextUnread(all, from, read(...ids))?.hunk.id ?? null
    expect(next({ chapter: null, hunk: null })).toBe('a1')
    expect(next({ chapter: 'one', hunk: 'a1' })).toBe('a2')
    expect(next({ chapter: 'one', hunk: 'a1' }, 'a2', 'b1')).toBe('c1')
    expect(next({ chapter: 'two', hunk: null })).toBe('c1')
    expect(next({ chapter: 'two', hunk: 'c1' }, 'c1')).toBe('a1')
    expect(next({ chapter: 'moved', hunk: null })).toBe('a1')
    expect(next({ chapter: 'two', hunk: 'c1' }, 'a1', 'a2', 'b1', 'c1')).toBeNull()
  })
})

describe('after the work changed', () => {
  test('the place is that of the change that is being read', () => {
    const split = [chapter('b', [hunk('b1', 'b.ts')]), chapter('a', [hunk('a1', 'a.ts'), hunk('a2', 'a.ts')])]
    expect(chapterAfter(one, 0, 'b1', split)?.id).toBe('b')
    expect(chapterAfter(one, 0, null, split)?.id).toBe('a')
    expect(chapterAfter(one, 0, 'gone', split)?.id).toBe('a')
  })
  test('else that of its file, else the same number', () => {
    const others = [chapter('x', [hunk('x1', 'x.ts')]), chapter('b', [hunk('b9', 'b.ts')])]
    expect(chapterAfter(one, 0, null, others)?.id).toBe('b')
    expect(chapterAfter(two, 1, null, others)?.id).toBe('b')
    expect(chapterAfter(moved, 2, null, [others[0] ?? one])?.id).toBe('x')
    expect(chapterAfter(one, 0, null, [])).toBeNull()
  })
  test('new changes are told apart from those that stayed', () => {
    const now = [chapter('one', [hunk('a1', 'a.ts'), hunk('a3', 'a.ts')]), two]
    expect([...newHunks(all, now)]).toEqual(['a3'])
  })
})

test('says how large a chapter is, and whose words its title is', () => {
  expect(sizeText(one.hunks)).toBe('3 changes, 6 lines')
  expect(sizeText([hunk('m', 'a.ts', 0, { old: [0, 0], new: [0, 0] })])).toBe('1 change')
  expect(tellerOf({ source: 'rules', by: null })).toBeNull()
  expect(tellerOf({ source: 'agent', by: 'agent:1' })).toBe('agent:1')
})

describe('lines', () => {
  test('of a change are on the new side if it has some there', () => {
    const added = hunk('1', 'a.ts', 5, { old: [4, 0], new: [5, 3] })
    const removed = hunk('2', 'a.ts', 5, { old: [5, 2], new: [4, 0] })
    expect(lineOf(added, 'first')).toEqual({ path: 'a.ts', side: 'new', line: 5 })
    expect(lineOf(added, 'last')).toEqual({ path: 'a.ts', side: 'new', line: 7 })
    expect(lineOf(removed, 'last')).toEqual({ path: 'a.ts', side: 'old', line: 6 })
    expect(lineOf(hunk('3', 'a.ts', 0, { cause: 'mode', old: [0, 0], new: [0, 0] }), 'first')).toBeNull()
  })
  test('belong to the chapter with the nearest change of their file', () => {
    const chapters = [chapter('top', [hunk('1', 'a.ts', 3)]), chapter('end', [hunk('2', 'a.ts', 40)]), two]
    const at = (path: string, line: number) => chapterOfLine(chapters, { path, side: 'new', line })?.id
    expect([at('a.ts', 3), at('a.ts', 20), at('a.ts', 25), at('c.ts', 99)]).toEqual(['top', 'top', 'end', 'two'])
    expect(at('none.ts', 1)).toBeUndefined()
  })
})
