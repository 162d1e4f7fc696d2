import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  arcWord,
  edgesOf,
  placeStates,
  sidesOf,
  stateSize,
} from '../../../../src-renderer/features/workflow/lay-out.ts'
import { edgeWord } from '../../../../src-renderer/features/workflow/state-text.ts'
import type { RawDefinition } from '../../../../src-renderer/features/workflow/edit-definition.ts'
import { projectRoot } from '../../../helpers/project-root.ts'

const shipped = (name: string) =>
  parse(readFileSync(join(projectRoot, 'workflows', `${name}.yaml`), 'utf8')) as RawDefinition
const chain = (...labels: readonly string[]) =>
  ({
    states: [...labels, ''].map((label, index) => ({
      name: `s${index}`,
      transitions: label === '' ? [] : [{ to: `s${index + 1}`, label }],
    })),
  }) as unknown as RawDefinition

/** The edges between neighbours of a row, with the room for their label. */
function neighbours(raw: RawDefinition) {
  const byName = new Map(placeStates(raw).map((place) => [place.name, place]))
  return edgesOf(raw).flatMap(({ from, to, kind, label }) => {
    const [start, end] = [byName.get(from), byName.get(to)]
    if (!start || !end || sidesOf(kind, start, end).out !== 'right') return []
    return [{ word: edgeWord(label), room: end.x - start.x - stateSize.width }]
  })
}

test.each(['default', 'user-approval-review', 'no-user-approval', 'pull-request'])(
  'leaves room for each label of %s, and overlaps no states',
  (name) => {
    const raw = shipped(name)
    const rows = neighbours(raw)
    expect(rows.length).toBeGreaterThan(3)
    // Letters of ten pixels are hardly wider than six.
    expect(rows.filter(({ word, room }) => room < word.length * 5.5 + 20)).toEqual([])
    const spots = placeStates(raw).map(({ x, y }) => `${x} ${y}`)
    expect(new Set(spots).size).toBe(raw.states.length)
  },
)

test('widens only the gap of a long label', () => {
  const [short = 0, long = 0, again = 0] = neighbours(chain('Go', 'Submit for a review', 'Go')).map(({ room }) => room)
  expect(short).toBe(again)
  expect(long).toBeGreaterThan(short + 20)
})

test('keeps labels below the states away from those between the rows', () => {
  expect(arcWord(0, 100, 0, 'over').x).toBe(50)
  const under = arcWord(300, 0, 0, 'under')
  expect(under.x).toBeLessThan(90)
  expect(under.y).toBeGreaterThan(15)
})
