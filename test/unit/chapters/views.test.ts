import { expect, test } from 'vitest'
import { buildChapters } from '../../../src-main/chapters/rules/build-chapters.ts'
import { noMarks } from '../../../src-main/domain/review/viewed-marks.ts'
import { toKept, toView } from '../../../src-main/chapters/views.ts'
import { Chapters } from '../../../src-shared/contract/chapters.ts'
import { factsOf } from '../../helpers/change-facts.ts'

test('shows 50 risks of a kind, and says how many more there are', () => {
  const lines = Array.from({ length: 53 }, (_, at) => `eval(${at})\n`).join('')
  const facts = factsOf({
    'src/a.ts': { before: null, after: lines },
    'run.sh': { before: '', after: '<<<<<<< a\n>>>>>>> b\n' },
  })
  const view = toView(toKept('tree', facts.files, buildChapters(facts)), false, noMarks)
  expect(Chapters.parse(view)).toEqual(view)
  const code = view.risks.filter(({ kind }) => kind === 'dynamic_code')
  expect(code).toHaveLength(50)
  expect(code.map(({ more }) => more).filter((more) => more !== undefined)).toEqual([3])
  expect(code.at(-1)?.more).toBe(3)
  expect(view.risks.filter(({ kind }) => kind !== 'dynamic_code').map(({ more }) => more)).toEqual([undefined])
})

test('shows as viewed what is as the reader saw it', () => {
  const change = { before: 'a\n', after: 'b\n' }
  const facts = factsOf({ 'a.txt': change, 'b.txt': change, 'c.txt': change, 'd.txt': change })
  const kept = toKept('tree', facts.files, buildChapters(facts))
  const files = new Map([
    ['a.txt', { blob: 'a.txt', new_mode: '100644' }],
    ['b.txt', { blob: 'another', new_mode: '100644' }],
  ])
  const marks = { files, hunks: new Map([['d.txt', new Set([facts.files[3]?.hunks[0]?.id ?? ''])]]) }
  const viewed = toView(kept, false, marks).chapters.flatMap(({ hunks }) =>
    hunks.map((hunk) => [hunk.path, hunk.viewed]),
  )
  expect(viewed).toEqual([
    ['a.txt', true],
    ['b.txt', false],
    ['c.txt', false],
    ['d.txt', true],
  ])
})
