import { describe, expect, test } from 'vitest'
import { effectScope, nextTick, shallowRef } from 'vue'
import type { ToldChanges } from '../../../../src-renderer/features/changes/use-chapters.ts'
import { useReading } from '../../../../src-renderer/features/changes/use-reading.ts'
import type { ChapterHunk } from '../../../../src-renderer/model/chapters.ts'
import type { Chapter } from '../../../../src-shared/contract/chapters.ts'

const chapter = (id: string, hunks: readonly string[], folded = false): Chapter => ({
  ...{ id, title: id, why: '', kind: 'core', folded },
  hunks: hunks.map((hunk, at): ChapterHunk => ({
    ...{ id: hunk, path: `${hunk[0] ?? ''}.ts`, cause: 'lines', old: [at + 1, 1], new: [at + 1, 1], kind: 'core' },
    ...{ from: null, viewed: false },
  })),
})
const told = (tree: string, ...chapters: readonly Chapter[]): ToldChanges => ({
  chapters: { tree, source: 'rules', pending: false, by: null, chapters: [...chapters], risks: [], rejected: null },
  files: new Map(),
  patches: new Map(),
})
const before = told('1', chapter('A', ['a1', 'a2']), chapter('B', ['b1']), chapter('M', ['m1'], true))

/** A reader of these chapters who has read some of them. */
function read(...ids: string[]) {
  const changes = shallowRef(before)
  const seen = new Set(ids)
  const scope = effectScope()
  const reading = scope.run(() => useReading({ told: () => changes.value, isRead: ({ id }) => seen.has(id) }))
  if (!reading) throw new Error('The scope has ended.')
  const at = () => [reading.chapter.value?.id ?? 'end', reading.hunk.value]
  const take = async (next: ToldChanges) => {
    changes.value = next
    await nextTick()
  }
  return { reading, at, take, seen, [Symbol.dispose]: () => scope.stop() }
}

describe('the reader', () => {
  test('begins at the first chapter that isn’t read, or at the first', () => {
    using some = read('a1', 'a2')
    expect(some.at()).toEqual(['B', null])
    using all = read('a1', 'a2', 'b1')
    expect(all.at()).toEqual(['A', null])
  })
  test('steps over the chapters, the folded ones too, to the end and back', () => {
    using one = read()
    const { reading, at } = one
    const steps = ([1, 1, 1, 1, -1, -1] as const).map((by) => {
      reading.step(by)
      return at()[0]
    })
    expect(steps).toEqual(['B', 'M', 'end', 'end', 'M', 'B'])
  })
  test('steps over the changes that are to be read, and over those of an open folded chapter', () => {
    using one = read()
    const { reading, at } = one
    const walk = ([1, 1, 1, 1, -1] as const).map((by) => reading.stepHunk(by)?.id ?? null)
    expect(walk).toEqual(['a1', 'a2', 'b1', null, 'a2'])
    reading.step(1)
    reading.step(1)
    expect(reading.stepHunk(1)?.id).toBe('m1')
    reading.open(null)
    expect(reading.stepHunk(-1)?.id).toBe('b1')
    expect(at()).toEqual(['B', 'b1'])
  })
  test('is led to what isn’t read, and at last to the end', () => {
    using one = read('a1')
    const { reading, at, seen } = one
    expect(reading.goToUnread()?.id).toBe('a2')
    seen.add('a2')
    const pages = reading.page.value
    expect(reading.goToUnread()?.id).toBe('b1')
    expect(reading.page.value).toBe(pages + 1)
    seen.add('b1')
    expect(reading.goToUnread()).toBeNull()
    expect(at()).toEqual(['end', null])
  })
})

describe('when the work changes', () => {
  test('the reader stays in place, and what is new is named', async () => {
    using one = read()
    const { reading, at, take } = one
    reading.open(before.chapters.chapters[1] ?? null, 'b1')
    const pages = reading.page.value
    await take(told('2', chapter('C', ['c1']), chapter('A', ['a1', 'a9']), chapter('BB', ['b1', 'b2'])))
    expect(at()).toEqual(['BB', 'b1'])
    expect(reading.page.value).toBe(pages)
    expect([...reading.changed.value].toSorted()).toEqual(['a9', 'b2', 'c1'])
    expect(reading.hasChanged.value).toBe(true)
    reading.seeChange()
    // What is new stays named, as long as it is there.
    await take(told('3', chapter('A', ['a1', 'a9']), chapter('BB', ['b1'])))
    expect([...reading.changed.value]).toEqual(['a9'])
    expect(reading.hasChanged.value).toBe(true)
  })
  test('the end stays the end, and a change that is gone is no longer the current one', async () => {
    using one = read()
    const { reading, at, take } = one
    reading.open(before.chapters.chapters[0] ?? null, 'a2')
    await take(told('2', chapter('A', ['a1'])))
    expect(at()).toEqual(['A', null])
    reading.open(null)
    await take(told('3', chapter('A', ['a3'])))
    expect(at()).toEqual(['end', null])
  })
  test('the same work told again is no change', async () => {
    using one = read()
    const { reading, take } = one
    await take(told('1', chapter('B', ['b1']), chapter('A', ['a1', 'a2'])))
    expect(reading.hasChanged.value).toBe(false)
    expect(reading.changed.value.size).toBe(0)
  })
})
