import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { expect, test } from 'vitest'
import { decideVerdict, rejectFrom, type VerdictFacts } from '../../../../src-main/domain/review/decide-verdict.ts'
import { isRefusal } from '../../../../src-main/domain/refusal.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import type { AgentId, UserId } from '../../../../src-shared/contract/ids.ts'
import { changed, standard } from '../workflows.ts'

const agent = { type: 'agent', id: 'a1' as AgentId } as const
const user = { type: 'user', id: 'u1' as UserId } as const
const facts: VerdictFacts = {
  workflow: standard,
  status: 'review',
  entry_barrier: false,
  roles: { reviewer: agent, planner: agent },
  latest_review: 'running',
  work: { judged: null, work: null, seen: null, files: [] },
  has_notes: false,
  by: agent,
  rejections: 0,
}
const strict = indexWorkflow(
  changed({
    review: { gate_config: { reject_target: 'in_progress', max_rejections: 3, requires_human_approval: true } },
  }),
  pluginTraits,
)
const open = indexWorkflow(changed({ planning: { gate_config: { requires_human_approval: false } } }), pluginTraits)

const answer = (verdict: 'pass' | 'fail', more: Partial<VerdictFacts>) => {
  const plan = decideVerdict(verdict, { ...facts, ...more })
  if (isRefusal(plan)) return plan.code
  if (plan.kind === 'pass_review') return plan.waits_for_person ? 'waits' : 'passes'
  return plan.kind === 'escalate' ? 'escalates' : `${plan.kind} ${plan.to}`
}

test.each<[string, 'pass' | 'fail', Partial<VerdictFacts>, string]>([
  ['outside a gate', 'pass', { status: 'in_progress' }, 'not_at_gate'],
  ['by an agent without the role', 'pass', { by: { type: 'agent', id: 'a2' as AgentId } }, 'forbidden'],
  ['by an agent while a person has the role', 'pass', { roles: { reviewer: user } }, 'forbidden'],
  ['while the checks run', 'pass', { entry_barrier: true }, 'entry_barrier'],
  ['of the reviewer', 'pass', {}, 'passes'],
  ['of a person without the role', 'pass', { by: user }, 'passes'],
  ['of the operator', 'pass', { by: { type: 'operator' } }, 'passes'],
  ['of the reviewer where a person must approve', 'pass', { workflow: strict }, 'waits'],
  ['of a person where a person must approve', 'pass', { workflow: strict, by: user }, 'passes'],
  ['of a review that is over', 'pass', { latest_review: 'failed' }, 'review_not_ready'],
  ['of a review that never was', 'pass', { latest_review: null }, 'review_not_ready'],
  ['of the planner', 'pass', { status: 'planning' }, 'waits'],
  ['of a person on a plan', 'pass', { status: 'planning', by: user }, 'forward in_progress'],
  ['of the planner where it may', 'pass', { status: 'planning', workflow: open }, 'forward in_progress'],
  ['no, of the reviewer', 'fail', { rejections: 2 }, 'reject in_progress'],
  ['no, past the budget', 'fail', { rejections: 3 }, 'escalates'],
  ['no, of a person past the budget', 'fail', { rejections: 30, by: user }, 'reject in_progress'],
  ['no, on a passed review', 'fail', { latest_review: 'passed', by: user }, 'reject in_progress'],
  ['no, at a gate that leads nowhere', 'fail', { status: 'planning', workflow: open }, 'not_at_gate'],
])('decides a verdict %s', (_what, verdict, more, expected) => {
  expect(answer(verdict, more)).toBe(expected)
})

test('sends back without limit at a gate without a budget', () => {
  const gate = standard.states.get('planning')
  expect(gate && rejectFrom(gate, { by_person: false, rejections: 1_000 })).toEqual({ kind: 'reject', to: 'todo' })
})

const [one, other] = ['1'.repeat(40), '2'.repeat(40)]
const worked = (judged: string | null, now: string, seen: string | null = null) => ({
  judged: { head: one, tree: judged },
  work: { head: one, tree: now },
  seen,
  files: ['a.txt'],
})

test('passes only checked work by a verdict without a tree, and always accepts a fail', () => {
  for (const by of [agent, user, { type: 'operator' } as const]) {
    const work = worked(one, other)
    expect(decideVerdict('pass', { ...facts, work, by })).toMatchObject({
      code: 'review_not_ready',
      details: { tree: other, files: ['a.txt'] },
    })
    expect(decideVerdict('fail', { ...facts, work, by })).toEqual({ kind: 'reject', to: 'in_progress' })
    expect(decideVerdict('pass', { ...facts, work: worked(one, one), by })).toMatchObject({ kind: 'pass_review' })
  }
})

test('lets a person pass the work that they have seen in its current state', () => {
  const work = worked(one, other, other)
  expect(answer('pass', { work, by: user })).toBe('passes')
  expect(answer('pass', { work, by: agent })).toBe('review_not_ready')
  // Nothing was checked, so the verdict is the first judgement.
  expect(answer('pass', { work: { ...work, judged: { head: null, tree: null } } })).toBe('passes')
})

test('refuses a pass for work that has changed since, also at a gate without review', () => {
  const work = worked(one, other, one)
  for (const by of [agent, user]) {
    expect(decideVerdict('pass', { ...facts, work, by })).toMatchObject({
      code: 'work_changed',
      details: { tree: other, files: ['a.txt'] },
    })
    expect(answer('pass', { work, by, status: 'planning' })).toBe('work_changed')
  }
})

test('leaves an agent’s pass of a review with notes to a person', () => {
  const pass = (by: VerdictFacts['by']) => decideVerdict('pass', { ...facts, has_notes: true, by })
  expect(pass(agent)).toEqual({ kind: 'pass_review', waits_for_person: true })
  expect(pass(user)).toEqual({ kind: 'pass_review', waits_for_person: false })
})
