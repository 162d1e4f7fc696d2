import { describe, expect, test } from 'vitest'
import { groupConflicts, layOutSides } from '../../../../src-renderer/features/workspace/conflict-groups.ts'
import { conflictIn } from '../../../../src-renderer/stores/review/branch-updates.ts'
import { conflictKinds, type ConflictHunk } from '../../../../src-shared/contract/conflicts.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'

const hunk = (more: Partial<ConflictHunk> = {}): ConflictHunk => ({
  path: 'a.ts',
  kind: 'content',
  line: 3,
  text: null,
  truncated: false,
  ...more,
})
const sides = (text: string) => groupConflicts([], [hunk({ text })])[0]?.places[0]?.lines.map((line) => line.side)

describe('the files of a conflict', () => {
  test('are listed in order, each with its own places', () => {
    const grouped = groupConflicts(
      ['b.ts', 'a.ts'],
      [hunk({ text: 'x' }), hunk({ path: 'c.ts', text: 'y' }), hunk({ text: 'z', line: 9 })],
    )
    expect(grouped.map((file) => [file.path, file.places.map((place) => place.line)])).toEqual([
      ['b.ts', []],
      ['a.ts', [3, 9]],
      ['c.ts', [3]],
    ])
  })
  test('say why git could not merge them, each reason once', () => {
    expect(groupConflicts([], [hunk(), hunk(), hunk({ kind: 'binary' })])[0]?.why).toBe(
      'Both changed the same lines, Both changed a binary file',
    )
    const said = conflictKinds.map((kind) => groupConflicts([], [hunk({ kind })])[0]?.why)
    expect(new Set(said).size).toBe(conflictKinds.length)
  })
  test('have no place where there is no text', () => {
    expect(groupConflicts([], [hunk({ kind: 'submodule' })])[0]?.places).toEqual([])
  })
})

describe('the lines of a place', () => {
  test('are told apart by git’s markers', () => {
    expect(sides('before\n<<<<<<< svc/x\nmine\n=======\nyours\n>>>>>>> main\nafter')).toEqual([
      'both',
      'mark',
      'ours',
      'mark',
      'theirs',
      'mark',
      'both',
    ])
  })
  test('include the base between them', () => {
    expect(sides('<<<<<<< a\nmine\n||||||| base\nwas\n=======\nyours\n>>>>>>> b')).toEqual([
      'mark',
      'ours',
      'mark',
      'base',
      'mark',
      'theirs',
      'mark',
    ])
  })
  test('keep lines of the file that look like a marker', () => {
    expect(sides('=======\n<<<<<<< a\n>>>>>>> no\n=======\n=======\n>>>>>>> b')).toEqual([
      'both',
      'mark',
      'ours',
      'mark',
      'theirs',
      'mark',
    ])
  })
})

describe('the conflict in a refusal', () => {
  const refusal = (details?: Record<string, unknown>) =>
    conflictIn(new ApiError({ code: 'merge_conflict', message: 'No.', ...(details && { details }) }))
  test('is read from its details', () => {
    expect(refusal({ files: ['a.ts'], hunks: [hunk()], left: true })).toEqual({
      files: ['a.ts'],
      hunks: [hunk()],
      left: true,
    })
  })
  test('is also read from details of another shape', () => {
    expect(refusal()).toEqual({ files: [], hunks: [], left: false })
    expect(refusal({ files: 'a.ts' })).toEqual({ files: [], hunks: [], left: false })
  })
  test('is missing in any other refusal', () => {
    expect(conflictIn(new ApiError({ code: 'workspace_locked', message: 'No.' }))).toBeNull()
    expect(conflictIn(new Error('No.'))).toBeNull()
  })
})

describe('the sides of a place', () => {
  const text = ['before', '<<<<<<< main', 'one', 'two', '=======', 'three', '>>>>>>> svc/mine', 'after'].join('\n')
  const swapped = text.replace('main', 'HEAD').replace('svc/mine', 'main')
  const placeOf = (from: string) => groupConflicts([], [hunk({ text: from })])[0]?.places[0]?.lines ?? []
  const row = (left: string | null, right: string | null, isConflict = true) => ({ left, right, isConflict })

  test('lie beside each other, the base on the left, common lines on both', () => {
    expect(layOutSides(placeOf(text), 'main')).toEqual({
      left: 'main',
      right: 'svc/mine',
      rows: [row('before', 'before', false), row('one', 'three'), row('two', null), row('after', 'after', false)],
    })
  })
  test('are turned where git names the base last', () => {
    expect(layOutSides(placeOf(swapped), 'main')).toMatchObject({
      left: 'main',
      right: 'HEAD',
      rows: [{}, row('three', 'one'), row(null, 'two'), {}],
    })
  })
  test('are shown as far as the text goes', () => {
    expect(layOutSides(placeOf('<<<<<<< main\none'), 'main').rows).toEqual([row('one', null)])
  })
})
