import { expect, test } from 'vitest'
import { audienceMatches } from '../../../../src-main/domain/transition/audience.ts'
import { listMoves, type MoveFacts } from '../../../../src-main/tasks/rules/list-moves.ts'
import { standard } from '../../domain/workflows.ts'

const facts: MoveFacts = {
  workflow: standard,
  status: 'todo',
  version: 1,
  entry_barrier: false,
  archived: false,
  latest_review: null,
  triggered_by: 'user:ann',
  roles: {},
  claim: { path: ['in_progress'], role: 'coder', works_as: 'coder' },
}
const allowed = (more: Partial<MoveFacts>) =>
  listMoves({ ...facts, ...more })
    .filter((move) => move.allowed)
    .map((move) => `${move.to} via ${move.via}`)

test.each<[string, Partial<MoveFacts>, string[]]>([
  ['the backlog', { status: 'backlog' }, ['todo via transition', 'in_progress via claim', 'cancelled via cancel']],
  [
    'the queue',
    {},
    ['backlog via transition', 'planning via transition', 'in_progress via claim', 'cancelled via cancel'],
  ],
  [
    'work',
    { status: 'in_progress' },
    ['todo via transition', 'review via transition', 'blocked via transition', 'cancelled via cancel'],
  ],
  [
    'a passed review',
    { status: 'review', latest_review: 'passed' },
    ['in_progress via verdict_fail', 'merging via transition', 'blocked via transition', 'cancelled via cancel'],
  ],
  [
    'an open review',
    { status: 'review', latest_review: 'running' },
    ['in_progress via verdict_fail', 'blocked via transition', 'cancelled via cancel'],
  ],
  ['a barrier', { status: 'review', entry_barrier: true }, ['cancelled via cancel']],
  ['the merge', { status: 'merging' }, ['cancelled via cancel']],
  ['the end', { status: 'done' }, []],
])('lists what a person gets from %s', (_where, more, expected) => {
  expect(allowed(more)).toEqual(expected)
})

test('lists every other state, with a reason where it is not allowed', () => {
  for (const status of standard.states.keys()) {
    const moves = listMoves({ ...facts, status })
    expect(moves.map((move) => move.to)).toEqual([...standard.states.keys()].filter((name) => name !== status))
    for (const move of moves) expect(move.reason === null).toBe(move.allowed)
  }
})

test('says only that no transition leads to a state', () => {
  const reasons = listMoves({ ...facts, status: 'review' }).map((move) => [move.to, move.reason])
  expect(Object.fromEntries(reasons)).toMatchObject({
    todo: "Tasks can't move from Review to To do.",
    merging: "The review hasn't passed. Approve it or request changes.",
  })
})

test('leads a claim to planning first if there is a planner', () => {
  const roles = { planner: { type: 'agent', id: 'a' as never } } as const
  const moves = listMoves({ ...facts, roles, claim: { path: ['planning'], role: 'coder', works_as: 'planner' } })
  expect(moves.find((move) => move.to === 'planning')).toMatchObject({ allowed: true, via: 'claim' })
  expect(moves.find((move) => move.to === 'in_progress')).toMatchObject({
    allowed: false,
    reason: 'A claim leads to Planning.',
  })
})

test.each([
  [undefined, true, true, true],
  ['all', true, true, true],
  ['agent_only', false, true, true],
  ['user_only', true, false, false],
] as const)('respects the audience %s', (audience, user, agent, system) => {
  const matches = ['user:ann', 'agent:a', 'system'].map((by) => audienceMatches(audience, by))
  expect(matches).toEqual([user, agent, system])
})
