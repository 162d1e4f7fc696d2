import { expect, test } from 'vitest'
import {
  readRaw,
  waysOf,
  withGate,
  withName,
  withNewState,
  withoutState,
  withState,
  type RawDefinition,
} from '../../../../src-renderer/features/workflow/edit-definition.ts'
import { edgesOf, placeStates } from '../../../../src-renderer/features/workflow/lay-out.ts'

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

test('text that can not be drawn is nothing, and what nobody knows is kept', () => {
  expect(readRaw('{"states": [')).toBeNull()
  expect(readRaw('{"states": [{}]}')).toBeNull()
  expect(readRaw(JSON.stringify(raw))).toEqual(raw)
})

test('a new name is used wherever the state was named, and the service is told the old one', () => {
  const next = withName(raw, 'doing', 'coding', 'doing')
  expect(JSON.stringify(next)).not.toContain('"to":"doing"')
  expect(stateOf(next, 'coding')).toMatchObject({ renamed_from: 'doing' })
  expect(stateOf(next, 'review')).toMatchObject({ gate_config: { reject_target: 'coding' } })
  expect(JSON.stringify(next)).toContain('{"cascade":"coding"}')
  expect(withName(raw, 'gone', 'ended', 'gone')).toMatchObject({ cancellation_state: 'ended', note: 'kept' })
  // Back to the saved name there is nothing to tell; of a state that was never saved neither.
  expect(stateOf(withName(next, 'coding', 'doing', 'doing'), 'doing')).not.toHaveProperty('renamed_from')
  expect(stateOf(withName(raw, 'doing', 'coding', null), 'coding')).not.toHaveProperty('renamed_from')
})

test('a state that is removed takes the ways to it along, and new ones have free names', () => {
  const next = withoutState(raw, 'review')
  expect(stateOf(next, 'doing')).toMatchObject({ transitions: [] })
  expect(stateOf(next, 'todo')).toEqual(stateOf(raw, 'todo'))
  const once = withNewState(raw)
  expect(withNewState(once.raw).name).toBe('new_state_2')
})

test('a field that is emptied is left out, and a gate without fields too', () => {
  expect(stateOf(withState(raw, 'todo', { kind: undefined }), 'todo')).not.toHaveProperty('kind')
  const [review] = raw.states.filter((state) => state.name === 'review')
  if (!review) throw new Error('There is no review.')
  expect(withGate(review, { reject_target: undefined })).toEqual({ gate_config: undefined })
  expect(withGate(review, { max_rejections: 2 })).toEqual({
    gate_config: { reject_target: 'doing', max_rejections: 2 },
  })
  expect(waysOf({ name: 'x', transitions: 'none' })).toEqual([])
})

test('the graph has every way once, and places work from left to right', () => {
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
