import { expect, test } from 'vitest'
import {
  readRaw,
  transitionsOf,
  withGate,
  withName,
  withNewState,
  withoutState,
  withState,
  type RawDefinition,
} from '../../../../src-renderer/features/workflow/edit-definition.ts'
import { arcPath, edgesOf, placeStates, sidesOf } from '../../../../src-renderer/features/workflow/lay-out.ts'

const raw: RawDefinition = {
  note: 'kept',
  cancellation_state: 'gone',
  states: [
    { name: 'todo', kind: 'initial', transitions: [{ to: 'doing', label: 'Start' }] },
    { name: 'doing', kind: 'active', transitions: [{ to: 'review', label: 'Done' }], hooks: { on_enter: [] } },
    {
      name: 'review',
      kind: 'gate',
      transitions: [{ to: 'gone', label: 'Merge' }],
      gate_config: { reject_target: 'doing' },
      hooks: { before_enter: [{ plugin: 'run_ci_steps', on_failure: { cascade: 'doing' } }] },
    },
    { name: 'gone', kind: 'terminal' },
  ],
}
const stateOf = (of: RawDefinition, name: string) => of.states.find((state) => state.name === name)

test('draws nothing for invalid text, and keeps unknown fields', () => {
  expect(readRaw('{"states": [')).toBeNull()
  expect(readRaw('{"states": [{}]}')).toBeNull()
  expect(readRaw(JSON.stringify(raw))).toEqual(raw)
})

test('renames a state everywhere, and reports its old name to the service', () => {
  const next = withName(raw, 'doing', 'coding', 'doing')
  expect(JSON.stringify(next)).not.toContain('"to":"doing"')
  expect(stateOf(next, 'coding')).toMatchObject({ renamed_from: 'doing' })
  expect(stateOf(next, 'review')).toMatchObject({ gate_config: { reject_target: 'coding' } })
  expect(JSON.stringify(next)).toContain('{"cascade":"coding"}')
  expect(withName(raw, 'gone', 'ended', 'gone')).toMatchObject({ cancellation_state: 'ended', note: 'kept' })
  // A state with its saved name needs no old one, and neither does an unsaved state.
  expect(stateOf(withName(next, 'coding', 'doing', 'doing'), 'doing')).not.toHaveProperty('renamed_from')
  expect(stateOf(withName(raw, 'doing', 'coding', null), 'coding')).not.toHaveProperty('renamed_from')
})

test('removes transitions to a removed state, and gives new ones free names', () => {
  const next = withoutState(raw, 'review')
  expect(stateOf(next, 'doing')).toMatchObject({ transitions: [] })
  expect(stateOf(next, 'todo')).toEqual(stateOf(raw, 'todo'))
  const once = withNewState(raw)
  expect(withNewState(once.raw).name).toBe('new_state_2')
})

test('leaves out an emptied field, and an empty gate', () => {
  expect(stateOf(withState(raw, 'todo', { kind: undefined }), 'todo')).not.toHaveProperty('kind')
  const [review] = raw.states.filter((state) => state.name === 'review')
  if (!review) throw new Error('There is no review.')
  expect(withGate(review, { reject_target: undefined })).toEqual({ gate_config: undefined })
  expect(withGate(review, { max_rejections: 2 })).toEqual({
    gate_config: { reject_target: 'doing', max_rejections: 2 },
  })
  expect(transitionsOf({ name: 'x', transitions: 'none' })).toEqual([])
})

test('draws each transition once, and active states from left to right', () => {
  expect(edgesOf(raw).map(({ id, kind }) => `${id} ${kind}`)).toEqual([
    'todo>doing transition',
    'doing>review transition',
    'review>doing reject',
    'review>gone transition',
  ])
  const places = placeStates(raw)
  const xs = ['todo', 'doing', 'review', 'gone'].map((name) => places.find((place) => place.name === name)?.x ?? NaN)
  expect(xs).toEqual(xs.toSorted((a, b) => a - b))
  expect(new Set(xs).size).toBe(4)
})

test('puts the main path in one row, other states below, and routes edges around states', () => {
  const way = (to: string) => ({ to, label: to })
  const beside = {
    states: [
      { name: 'todo', transitions: [way('doing')] },
      { name: 'doing', transitions: [way('done'), way('stuck')] },
      { name: 'stuck', transitions: [way('todo')] },
      { name: 'done' },
      { name: 'gone' },
    ],
  }
  const places = new Map(placeStates(beside).map((place) => [place.name, place]))
  const at = (name: string) => {
    const place = places.get(name)
    if (!place) throw new Error(`${name} has no place.`)
    return place
  }
  const below = ['todo', 'doing', 'done', 'stuck', 'gone'].map((name) => at(name).y > at('todo').y)
  expect(below).toEqual([false, false, false, true, true])
  // No two at the same place.
  expect(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(5)
  expect(sidesOf('transition', at('todo'), at('doing'))).toEqual({ out: 'right', in: 'left', arc: null })
  expect(sidesOf('transition', at('stuck'), at('todo'))).toEqual({ out: 'top', in: 'bottom', arc: null })
  expect(sidesOf('reject', at('done'), at('doing')).arc).toBe('over')
  expect(sidesOf('transition', at('todo'), at('done')).arc).toBe('under')
  expect(arcPath(300, 0, 100, 'over')).toBe('M300,100 C300,60 0,60 0,100')
})
