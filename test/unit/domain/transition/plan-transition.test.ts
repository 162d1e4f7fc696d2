import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefusal } from '../../../../src-main/domain/refusal.ts'
import {
  planTransition,
  type TransitionFacts,
  type TransitionRequest,
} from '../../../../src-main/domain/transition/plan-transition.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import { anyDefinition, anyNames, changed, standard } from '../workflows.ts'

const facts: TransitionFacts = {
  workflow: standard,
  status: 'review',
  version: 3,
  entry_barrier: false,
  archived: false,
  latest_review: 'passed',
}
const asked: TransitionRequest = { to: 'merging', cause: 'asked', triggered_by: 'user:ann', version: 3 }

const answer = (request: Partial<TransitionRequest>, more: Partial<TransitionFacts> = {}) => {
  const plan = planTransition({ ...asked, ...request }, { ...facts, ...more })
  return isRefusal(plan) ? plan.code : `${plan.from.name} > ${plan.to.name}`
}

test('checks version, graph and audience, barrier and guards in this order', () => {
  const broken = { latest_review: 'failed', entry_barrier: true } as const
  const people = indexWorkflow(
    changed({ review: { transitions: [{ to: 'merging', label: 'Merge', audience: 'user_only' }] } }),
    pluginTraits,
  )
  expect(answer({ version: 2, to: 'done' }, broken)).toBe('version_conflict')
  expect(answer({ to: 'done' }, broken)).toBe('invalid_transition')
  expect(answer({ triggered_by: 'agent:x' }, { ...broken, workflow: people })).toBe('audience_mismatch')
  expect(answer({}, broken)).toBe('entry_barrier')
  expect(answer({}, { latest_review: 'failed' })).toBe('review_not_ready')
  expect(answer({})).toBe('review > merging')
})

test.each([
  ['a finished task stays where it is', {}, { status: 'done' }, 'task_terminal'],
  [
    'a finished task can not even be cancelled',
    { to: 'cancelled', cause: 'cancel' },
    { status: 'done' },
    'task_terminal',
  ],
  ['a state that is gone from the workflow leads nowhere', {}, { status: 'gone' }, 'invalid_transition'],
  ['an archived task does not move', {}, { archived: true }, 'invalid_transition'],
  ['a running review holds the way on', {}, { latest_review: 'running' }, 'review_not_ready'],
  ['no review holds the way on', {}, { latest_review: null }, 'review_not_ready'],
  [
    'the way back is open before the review has passed',
    { to: 'in_progress' },
    { latest_review: 'running' },
    'review > in_progress',
  ],
  [
    'a cancellation passes the barrier',
    { to: 'cancelled', cause: 'cancel' },
    { entry_barrier: true },
    'review > cancelled',
  ],
  [
    'a rejection passes the barrier',
    { to: 'in_progress', cause: 'reject' },
    { entry_barrier: true },
    'review > in_progress',
  ],
  [
    'an agent does not approve where a person must',
    { to: 'in_progress', triggered_by: 'agent:x' },
    { status: 'planning' },
    'review_not_ready',
  ],
  ['a person approves', { to: 'in_progress' }, { status: 'planning' }, 'planning > in_progress'],
  ['into work leads a claim only', { to: 'in_progress' }, { status: 'todo' }, 'invalid_transition'],
  [
    'a claim follows no declared transition',
    { to: 'in_progress', cause: 'claim' },
    { status: 'todo' },
    'todo > in_progress',
  ],
  ['done is for the merge alone', { to: 'done' }, { status: 'merging' }, 'audience_mismatch'],
  ['the merge reaches done', { to: 'done', cause: 'cascade' }, { status: 'merging' }, 'merging > done'],
] as const)('%s', (_what, request, more, expected) => {
  expect(answer(request, more)).toBe(expected)
})

test('lists the possible moves in a refusal', () => {
  expect(planTransition({ ...asked, to: 'done' }, facts)).toMatchObject({
    details: { allowed: ['merging', 'in_progress', 'blocked', 'cancelled'] },
  })
})

test('plans what must follow', () => {
  expect(
    planTransition({ ...asked, to: 'review', cause: 'forward', version: null }, { ...facts, status: 'in_progress' }),
  ).toMatchObject({
    opens_review: true,
    barrier: true,
    has_steps: true,
    rejection: false,
  })
  expect(planTransition({ ...asked, to: 'todo' }, { ...facts, status: 'planning' })).toMatchObject({
    opens_review: false,
    barrier: false,
    has_steps: false,
  })
  expect(planTransition({ ...asked, to: 'in_progress', cause: 'reject' }, facts)).toMatchObject({ rejection: true })
})

test('allows a requested move only along a declared transition, and never out of a terminal state', () => {
  const anyFacts = fc.record({
    definition: anyDefinition,
    status: fc.constantFrom(...anyNames),
    to: fc.constantFrom(...anyNames),
    entry_barrier: fc.boolean(),
    latest_review: fc.constantFrom(null, 'running' as const, 'passed' as const, 'failed' as const),
  })
  fc.assert(
    fc.property(anyFacts, ({ definition, to, ...rest }) => {
      const workflow = indexWorkflow(definition, pluginTraits)
      const plan = planTransition({ ...asked, to }, { ...facts, ...rest, workflow })
      if (isRefusal(plan)) return
      expect(plan.from.kind).not.toBe('terminal')
      expect(plan.from.transitions.map((one) => one.to)).toContain(to)
      expect(rest.entry_barrier).toBe(false)
    }),
  )
})
