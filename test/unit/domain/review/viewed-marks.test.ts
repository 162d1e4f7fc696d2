import { describe, expect, test } from 'vitest'
import {
  hasViewedFile,
  hasViewedHunk,
  noMarks,
  planMarks,
  toMarks,
  type MarkChange,
  type MarkWish,
  type ViewedMarks,
} from '../../../../src-main/domain/review/viewed-marks.ts'

const content = (path: string, blob = '1') => ({ path, blob, new_mode: '100644' })
const file = (path: string, hunks: readonly string[], blob = '1') => ({
  ...content(path, blob),
  hunks: hunks.map((id) => ({ id })),
})
const a = file('a.ts', ['a1', 'a2'])
const b = file('b.ts', ['b1'])
const now = [a, b]
const wish = (part: Partial<MarkWish>): MarkWish => ({ files: [], hunks: [], viewed: true, ...part })

/** The marks after a change, as the store keeps them. */
function applied(marks: ViewedMarks, change: MarkChange): ViewedMarks {
  const files = new Map([...marks.files, ...change.put_files.map((one) => [one.path, one] as const)])
  for (const path of change.drop_files) files.delete(path)
  const hunks = new Map([...marks.hunks].flatMap(([path, ids]) => [...ids].map((id) => [id, path])))
  for (const id of change.drop_hunks) hunks.delete(id)
  for (const { id, path } of change.put_hunks) hunks.set(id, path)
  return toMarks(
    [...files].map(([path, one]) => ({ path, ...one })),
    [...hunks].map(([id, path]) => ({ id, path })),
  )
}
const after = (part: Partial<MarkWish>, marks = noMarks, files = now) =>
  applied(marks, planMarks(wish(part), files, marks))
const viewedHunks = (marks: ViewedMarks, files = now) =>
  files.flatMap((one) => one.hunks.flatMap(({ id }) => (hasViewedHunk(id, one, marks) ? [id] : [])))

describe('marks of hunks', () => {
  test('make the file viewed with its last one', () => {
    const first = after({ hunks: ['a1', 'gone'] })
    expect(hasViewedFile(a, first)).toBe(false)
    expect([...first.hunks]).toEqual([['a.ts', new Set(['a1'])]])
    const change = planMarks(wish({ hunks: ['a2'] }), now, first)
    expect(change).toMatchObject({ files: [content('a.ts')], hunks: ['a2'] })
    expect(hasViewedFile(a, applied(first, change))).toBe(true)
  })
  test('stay when the file gets another hunk, and make it viewed when that one goes', () => {
    const all = after({ hunks: ['a1', 'a2'] })
    const more = file('a.ts', ['a1', 'a3', 'a2'], '2')
    expect(viewedHunks(all, [more])).toEqual(['a1', 'a2'])
    expect(hasViewedFile(more, all)).toBe(false)
    expect(hasViewedFile(file('a.ts', ['a2'], '3'), all)).toBe(true)
  })
  test('are kept of the others when one is taken from a file that was marked as a whole', () => {
    const old = toMarks([content('a.ts')], [])
    const change = planMarks(wish({ hunks: ['a1'], viewed: false }), now, old)
    expect(change).toMatchObject({ files: [content('a.ts')], hunks: ['a1'] })
    expect(viewedHunks(applied(old, change))).toEqual(['a2'])
  })
  test('are taken although the file was marked with another content', () => {
    const marks = after({ files: [content('a.ts')] })
    const pushed = [file('a.ts', ['a1', 'a3'], '2')]
    const taken = after({ hunks: ['a1'], viewed: false }, marks, pushed)
    expect(viewedHunks(taken, pushed)).toEqual([])
    // Back to the content that was marked.
    expect(viewedHunks(taken)).toEqual(['a2'])
  })

  test('are taken of another change with the same result', () => {
    const marks = after({ files: [content('a.ts')] })
    const rebased = file('a.ts', ['a1', 'a9'])
    expect(viewedHunks(marks, [rebased])).toEqual(['a1'])
    expect(hasViewedFile(rebased, marks)).toBe(false)
  })
  test('are added to those of a file that was marked as a whole, before hunks were', () => {
    const old = toMarks([content('a.ts')], [])
    expect(viewedHunks(old)).toEqual(['a1', 'a2'])
    expect(viewedHunks(after({ hunks: ['a1'] }, old))).toEqual(['a1', 'a2'])
  })
})

describe('marks of files', () => {
  test('are those of their hunks, so that they outlive a change of the file', () => {
    const marks = after({ files: [content('a.ts')] })
    expect(viewedHunks(marks)).toEqual(['a1', 'a2'])
    expect(viewedHunks(marks, [file('a.ts', ['a1', 'a3'], '2')])).toEqual(['a1'])
  })
  test('of a content that is gone count once it is back', () => {
    const marks = after({ files: [content('a.ts', 'earlier')] })
    expect(viewedHunks(marks)).toEqual([])
    expect(hasViewedFile(file('a.ts', ['a9'], 'earlier'), marks)).toBe(true)
  })
  test('are by content alone of more hunks than a person reads, also if some were viewed before', () => {
    const huge = file(
      'huge.ts',
      Array.from({ length: 20_001 }, (_, at) => `h${at}`),
    )
    const all = [a, huge]
    const before = after({ hunks: ['h1'] }, noMarks, all)
    const change = planMarks(wish({ files: all.map(({ path }) => content(path)) }), all, before)
    expect(change.put_hunks.map(({ id }) => id)).toEqual(['a1', 'a2'])
    const marks = applied(before, change)
    expect(all.every((one) => hasViewedFile(one, marks))).toBe(true)
    expect(hasViewedFile(file('huge.ts', ['h1', 'other'], '2'), marks)).toBe(false)
  })
  test('take all of their hunks with them, whatever the content is now', () => {
    const marks = after({ files: [content('a.ts'), content('b.ts')] })
    const change = planMarks(wish({ files: [content('a.ts')], viewed: false }), [file('a.ts', ['a1'], '2'), b], marks)
    expect(change.drop_hunks.toSorted()).toEqual(['a1', 'a2'])
    expect(viewedHunks(applied(marks, change))).toEqual(['b1'])
  })
})
