import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { expect, test } from 'vitest'
import { isSubmitted, planClaim, type ClaimFacts } from '../../../../src-main/tasks/rules/claim-guard.ts'
import { isRefusal } from '../../../../src-main/domain/refusal.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import type { AgentId, UserId } from '../../../../src-shared/contract/ids.ts'
import { changed, standard } from '../../domain/workflows.ts'

const agent = { type: 'agent', id: 'a1' as AgentId } as const
const other = { type: 'agent', id: 'a2' as AgentId } as const
const user = { type: 'user', id: 'u1' as UserId } as const

const facts: ClaimFacts = {
  workflow: standard,
  status: 'todo',
  archived: false,
  entry_barrier: false,
  roles: {},
  error_annotation: null,
  has_open_execution: false,
  was_reset: false,
  claimant: agent,
  agent_paused: false,
  uncontainable: null,
  project_paused: false,
  open_dependencies: [],
  unsubmitted_lower: null,
  parent_workspace: 'not_needed',
  workspace_taken: false,
}

const answer = (more: Partial<ClaimFacts>) => {
  const plan = planClaim({ ...facts, ...more })
  return isRefusal(plan) ? plan.code : `${plan.path.join(' > ') || 'here'} as ${plan.works_as}, takes ${plan.role}`
}

test('checks the guards in the specified order', () => {
  const inTheWay: Partial<ClaimFacts>[] = [
    { status: 'done' },
    { agent_paused: true },
    { project_paused: true },
    { open_dependencies: [{ id: 't', context_holder: null, submitted: false }] },
    { archived: true },
    { has_open_execution: true },
    { roles: { coder: other } },
    { parent_workspace: 'missing' },
    { workspace_taken: true },
  ]
  const answers = inTheWay.map((_, passed) => answer(Object.assign({}, ...inTheWay.slice(passed))))
  expect([...answers, answer({})]).toEqual([
    'task_terminal',
    'agent_paused',
    'project_paused',
    'dependency_gate',
    'not_claimable',
    'already_claimed',
    'already_claimed',
    'PARENT_WORKSPACE_REQUIRED',
    'workspace_locked',
    'in_progress as coder, takes coder',
  ])
})

test('needs the workspace for a follow-up as for a first claim', () => {
  const working: Partial<ClaimFacts> = { status: 'in_progress', roles: { coder: agent } }
  expect(answer({ ...working, parent_workspace: 'missing' })).toBe('PARENT_WORKSPACE_REQUIRED')
  expect(answer({ ...working, workspace_taken: true })).toBe('workspace_locked')
  expect(answer({ ...working, parent_workspace: 'ready' })).toBe('here as coder, takes coder')
})

test('counts a task as submitted in the states between its work and its end', () => {
  const submitted = [...standard.states.keys()].filter((status) => isSubmitted(standard, status))
  expect(submitted).toEqual(['review', 'merging'])
})

test.each<[string, Partial<ClaimFacts>, string]>([
  ['from the backlog to work', { status: 'backlog' }, 'in_progress as coder, takes coder'],
  ['from the queue to work', {}, 'in_progress as coder, takes coder'],
  ['to the planner first, where there is one', { roles: { planner: other } }, 'planning as planner, takes coder'],
  ['a reviewer is not on the way', { roles: { reviewer: other } }, 'in_progress as coder, takes coder'],
  ['a role that is the claimant’s already', { roles: { coder: agent } }, 'in_progress as coder, takes coder'],
  ['another’s role', { roles: { coder: other } }, 'already_claimed'],
  ['another kind with the same id', { roles: { coder: { type: 'user', id: 'a1' as UserId } } }, 'already_claimed'],
  ['going on where the work stopped', { status: 'in_progress', roles: { coder: agent } }, 'here as coder, takes coder'],
  ['taking up what nobody has', { status: 'in_progress' }, 'here as coder, takes coder'],
  ['another’s work', { status: 'in_progress', roles: { coder: other } }, 'already_claimed'],
  ['what is still being prepared', { status: 'in_progress', entry_barrier: true }, 'entry_barrier'],
  ['what a hook holds on its way into the queue', { entry_barrier: true }, 'entry_barrier'],
  ['a gate', { status: 'review' }, 'not_claimable'],
  ['a blocked task', { status: 'blocked' }, 'not_claimable'],
  ['a blocked task after a reset', { status: 'blocked', was_reset: true }, 'todo > in_progress as coder, takes coder'],
  ['a failed merge', { status: 'merge_failed', was_reset: true }, 'not_claimable'],
  ['a state that is gone', { status: 'gone' }, 'not_claimable'],
  ['a person on a paused project', { claimant: user, project_paused: true }, 'in_progress as coder, takes coder'],
])('decides a claim: %s', (_what, more, expected) => {
  expect(answer(more)).toBe(expected)
})

test('lets only the submitter through at a dependency in review', () => {
  const waiting = (context_holder: string | null, submitted = true) => ({
    open_dependencies: [{ id: 't', context_holder, submitted }],
  })
  expect(answer(waiting('agent:a1'))).toBe('in_progress as coder, takes coder')
  expect(answer(waiting('agent:a1', false))).toBe('dependency_gate')
  expect(answer(waiting('agent:a2'))).toBe('dependency_gate')
  expect(answer(waiting('user:a1'))).toBe('dependency_gate')
  expect(planClaim({ ...facts, ...waiting(null) })).toMatchObject({ details: { depends_on: ['t'] } })
})

test('assigns the claimant in an active state without a role', () => {
  const workflow = indexWorkflow(changed({ in_progress: { role: 'assignee' } }), pluginTraits)
  expect(answer({ workflow })).toBe('in_progress as assignee, takes assignee')
})
