import { expect, test } from 'vitest'
import type { TaskId } from '../../../../src-shared/contract/ids.ts'
import { planRestack, type RestackFacts } from '../../../../src-main/stacks/rules/stack.ts'

const a = 'a' as TaskId
const b = 'b' as TaskId

const upper: RestackFacts['upper'] = { has_branch: true, is_over: false, is_busy: false, lies_on: a }
const lower: RestackFacts['lower'] = { id: a, phase: 'submitted', has_branch: true }

test.each<[string, RestackFacts, ReturnType<typeof planRestack>]>([
  ['follows the lower branch once it is submitted', { upper, lower }, { kind: 'bring', onto: a }],
  ['goes to the base when nothing is below any more', { upper, lower: null }, { kind: 'bring', onto: null }],
  ['moves over to another task below', { upper, lower: { ...lower, id: b } }, { kind: 'bring', onto: b }],
  ['rests on the base', { upper: { ...upper, lies_on: null }, lower: null }, { kind: 'rest' }],
  ['has nothing to bring without a branch', { upper: { ...upper, has_branch: false }, lower }, { kind: 'rest' }],
  ['leaves a finished task alone', { upper: { ...upper, is_over: true }, lower: null }, { kind: 'rest' }],
  ['waits for work below', { upper, lower: { ...lower, phase: 'open' } }, { kind: 'wait', for: 'lower' }],
  ['waits for a branch below', { upper, lower: { ...lower, has_branch: false } }, { kind: 'wait', for: 'lower' }],
  ['waits for the end of a turn', { upper: { ...upper, is_busy: true }, lower }, { kind: 'wait', for: 'upper' }],
  [
    'waits for the end of a turn to go to the base',
    { upper: { ...upper, is_busy: true }, lower: null },
    { kind: 'wait', for: 'upper' },
  ],
])('decides for a stacked task %s', (_, facts, step) => {
  expect(planRestack(facts)).toEqual(step)
})
