import { describe, expect, test } from 'vitest'
import { actionFor, actionsOf } from '../../../../src-renderer/model/decision-action.ts'
import type { Review } from '../../../../src-shared/contract/reviews.ts'
import { annotated, data, decided, gate, shown, step, type Situation } from './decision-fixture.ts'

const pass = (by: string): Review['verdicts'][number] => ({
  by,
  verdict: 'pass',
  feedback: null,
  head_commit: null,
  created_at: data.task.created_at,
})
const plan = gate({ hooks: {}, transitions: [{ to: 'in_progress', label: 'Approve plan', audience: 'all' }] })

describe('a gate before the merge', () => {
  test('does not count passed checks as a review, and merges by a person’s decision', () => {
    expect(shown()).toEqual({
      says: 'Checks passed',
      tone: 'ok',
      button: 'Merge into main',
      can: ['approve', 'request_changes', 'move'],
      cannot: {},
    })
    expect(decided()?.primary.deed).toEqual({
      kind: 'advance',
      to: 'merging',
      merges: true,
      steps: ['verdict', 'transition'],
    })
  })
  test('is not green without checks until someone approves', () => {
    const none = { ci_steps: [], step_results: [], verdicts: [] }
    expect(shown({ review: { ...none, status: 'passed' } })).toMatchObject({
      says: 'Nothing checked',
      tone: 'neutral',
      button: 'Merge into main',
    })
    expect(shown({ review: { ...none, verdicts: [pass('user:local')] } })).toMatchObject({
      says: 'Nothing checked. You approved it.',
      tone: 'ok',
    })
  })
  test('says of empty work that there is nothing to merge, and what git ignores', () => {
    expect(shown({ review: { status: 'passed', verdicts: [pass('user:local')], empty: true } })).toMatchObject({
      says: 'No changes',
      tone: 'neutral',
      button: 'Request changes…',
      can: ['merge', 'move'],
    })
    const ignored = ['dist/', '.env', 'a.log', 'b.log']
    expect(shown({ review: { empty: true, ignored } })?.says).toBe(
      'No changes. Git ignores what was written: dist/, .env, a.log and 1 more',
    )
  })
  test('says what a person has to decide before the checks', () => {
    const task = { ...annotated('work_elsewhere'), entry_barrier: true }
    expect(shown({ task, review: { status: 'pending', ci_steps: [], step_results: [], verdicts: [] } })).toMatchObject({
      says: 'Work is outside the task’s branch. Take it, or leave it out.',
      tone: 'you',
      button: 'See the review',
    })
  })
  test('names who approved, only merges what is approved, and lets no one approve twice', () => {
    expect(shown({ review: { status: 'passed', verdicts: [pass('agent:a')] } })).toMatchObject({
      says: 'Checks passed. Auditor approved it.',
      can: ['approve', 'request_changes', 'move'],
    })
    const mine: Situation = { review: { status: 'passed', verdicts: [pass('agent:a'), pass('user:local')] } }
    expect(shown(mine)).toMatchObject({
      says: 'Checks passed. You and Auditor approved it.',
      can: ['request_changes', 'move'],
    })
    expect(decided(mine)?.primary.deed).toMatchObject({ steps: ['transition'] })
  })
  test('shows a conflict first and disables the merge', () => {
    expect(shown({ conflicts: ['src/a.txt'] })).toEqual({
      says: 'Conflicts with main in a.txt',
      tone: 'fail',
      button: 'Let Writer resolve the conflict',
      can: ['resolve_editor', 'approve', 'request_changes', 'see', 'move'],
      cannot: { merge: 'Conflicts with main in a.txt' },
    })
    expect(
      shown({ conflicts: ['src/a.txt', 'b.txt'], coder: { refusal: 'No agent works on this task' } }),
    ).toMatchObject({
      says: 'Conflicts with main in a.txt and 1 more',
      button: 'Resolve it in my editor',
      cannot: { resolve: 'No agent works on this task', merge: 'Conflicts with main in a.txt and 1 more' },
    })
  })
  test('leads to the checks while they run and after one failed', () => {
    expect(shown({ review: { verdicts: [], step_results: [step] }, task: { entry_barrier: true } })).toEqual({
      says: 'Checks are running: 1 of 3 passed',
      tone: 'run',
      button: 'See the checks',
      can: ['move'],
      cannot: {
        merge: 'Checks are running: 1 of 3 passed',
        approve: 'Checks are running: 1 of 3 passed',
        request_changes: 'Checks and hooks are still running',
      },
    })
    const failed: Partial<Review> = { status: 'failed', step_results: [{ ...step, exit_code: 1 }], verdicts: [] }
    expect(shown({ review: failed })).toMatchObject({
      says: 'Check failed: npm run lint',
      tone: 'fail',
      button: 'See what failed',
      can: ['request_changes', 'move'],
      cannot: { merge: 'Check failed: npm run lint', approve: 'Check failed: npm run lint' },
    })
  })
  test('can’t approve a finished review, or none', () => {
    const over: Partial<Review> = { status: 'cancelled', verdicts: [] }
    for (const review of [null, over])
      expect(shown({ review })).toMatchObject({
        says: 'There is no open review',
        button: 'See the review',
        cannot: { merge: 'There is no open review' },
      })
  })
  test('can stop a working reviewer, and still counts a person’s decision', () => {
    const worker = { name: 'Auditor', queued: false }
    expect(shown({ worker })).toMatchObject({
      says: 'Auditor is reviewing it',
      button: 'Stop Auditor',
      can: ['merge', 'approve', 'request_changes', 'move'],
    })
    expect(shown({ worker: { ...worker, queued: true } })?.says).toBe('Auditor is queued')
    expect(shown({ worker, conflicts: ['src/a.txt'] })?.cannot).toMatchObject({
      resolve: 'Auditor is working on it. Wait, or stop it.',
      merge: 'Conflicts with main in a.txt',
    })
  })
  test('refuses what the service refuses, and offers what is possible', () => {
    const moves = [
      { to: 'merging', label: 'Merge', allowed: false, via: 'transition', reason: 'A subtask is open' },
    ] as const
    const passed: Partial<Review> = { status: 'passed', verdicts: [pass('user:local')] }
    expect(shown({ review: passed, moves })).toMatchObject({
      says: 'A subtask is open',
      button: 'Request changes…',
      cannot: { merge: 'A subtask is open' },
    })
    // The service refuses the merge for want of the verdict that this action gives first.
    expect(shown({ moves })?.button).toBe('Merge into main')
  })
  test('shows unresolved comments', () => {
    expect(shown({ unresolved: 3 })).toMatchObject({
      says: 'Checks passed. 3 comments unresolved.',
      button: 'Merge with 3 comments unresolved',
    })
    expect(decided({ unresolved: 3 })?.primary.leaves).toBe('3 comments unresolved')
    expect(decided({ unresolved: 0 })?.primary.leaves).toBeUndefined()
  })
})

describe('other gates', () => {
  test('approves a plan under the workflow’s name, whatever earlier reviews remain', () => {
    expect(shown({ workflow: plan })).toEqual({
      says: 'Waiting for your approval',
      tone: 'you',
      button: 'Approve plan',
      can: ['request_changes', 'move'],
      cannot: {},
    })
    expect(decided({ workflow: plan })?.primary).toMatchObject({
      hint: 'It moves to In progress.',
      deed: { steps: ['verdict'], merges: false },
    })
    // Conflicts matter only before a merge.
    expect(shown({ workflow: plan, conflicts: ['src/a.txt'] })?.button).toBe('Approve plan')
    expect(shown({ workflow: plan, worker: { name: 'Planner', queued: false } })).toMatchObject({
      says: 'Planner is working on it',
      button: 'Stop Planner',
      can: ['approve', 'request_changes', 'move'],
    })
  })
  test('approves and moves a review that leads to no merge', () => {
    const qa = gate({ transitions: [{ to: 'done', label: 'Accept', audience: 'all' }] })
    expect(shown({ workflow: qa })).toMatchObject({ button: 'Approve and move to Done' })
    expect(shown({ workflow: qa, review: { status: 'passed', verdicts: [] } })?.button).toBe('Move to Done')
  })
  test('shows a failed hook and retries it', () => {
    const task = { ...annotated('hook_failed', { recovery_actions: ['retry_hook'] }), entry_barrier: true }
    expect(shown({ workflow: plan, task })).toMatchObject({
      says: 'A hook failed',
      button: 'See what failed',
      can: ['retry', 'move'],
      cannot: { approve: 'A hook failed' },
    })
    expect(shown({ workflow: plan, task: { entry_barrier: true } })).toMatchObject({
      says: 'Hooks are running',
      button: 'See the hooks',
    })
  })
  test('can’t request changes without a state to return to', () => {
    const oneWay = gate({ gate_config: { requires_human_approval: true } })
    expect(shown({ workflow: oneWay })?.cannot).toEqual({
      request_changes: 'This workflow has no state to go back to',
    })
  })
})

describe('away from gates', () => {
  test('shows no decision', () => {
    for (const status of ['todo', 'in_progress', 'merging', 'done']) expect(decided({ task: { status } })).toBeNull()
  })
  test('sends comments that were not sent yet, without a move', () => {
    expect(shown({ task: { status: 'in_progress' }, drafts: 2 })).toMatchObject({
      says: '2 comments not sent',
      button: 'Request changes…',
    })
    expect(decided({ task: { status: 'in_progress' }, drafts: 2 })?.primary.deed).toEqual({ kind: 'reject', to: null })
    for (const status of ['todo', 'done']) expect(decided({ task: { status }, drafts: 2 })).toBeNull()
  })
  test('offers the conflict first, then the merge again, after a failed merge', () => {
    const task = {
      status: 'merge_failed',
      ...annotated('merge_conflict', { recovery_actions: ['retry_merge'], files: ['a.txt'], hunks: [] }),
    }
    expect(shown({ task, conflicts: null })).toMatchObject({
      says: 'Conflicts with main in a.txt',
      button: 'Let Writer resolve the conflict',
      can: ['resolve_editor', 'see', 'move'],
      cannot: { retry: 'Conflicts with main in a.txt' },
    })
    expect(shown({ task, conflicts: [] })).toMatchObject({
      says: 'It would merge into main now',
      button: 'Retry merge',
    })
  })
  test('leads to the failure after too many failed reviews', () => {
    const task = { status: 'in_progress', ...annotated('retry_budget_exhausted') }
    expect(shown({ task })).toMatchObject({ says: 'Too many failed reviews', button: 'See what failed', can: ['move'] })
  })
})

test('can only look without a connection', () => {
  const changeRefusal = 'Changes are off'
  const decision = decided({ changeRefusal })
  expect(decision?.primary).toMatchObject({ label: 'Merge into main', refused: changeRefusal })
  expect(new Set(decision?.others.map(({ refused }) => refused))).toEqual(new Set([changeRefusal]))
  expect(
    shown({ changeRefusal, task: { entry_barrier: true }, review: { verdicts: [], step_results: [] } })?.button,
  ).toBe('See the checks')
})

test('has a usable button whenever an action is possible, and no action twice', () => {
  const situations: Situation[] = [
    {},
    { workflow: plan },
    { conflicts: ['src/a.txt'] },
    { conflicts: ['src/a.txt'], worker: { name: 'Auditor', queued: true } },
    { review: null },
    { task: { entry_barrier: true } },
    { task: annotated('retry_budget_exhausted') },
  ]
  for (const situation of situations) {
    const decision = decided(situation)
    if (decision === null) throw new Error('something waits')
    const ids = actionsOf(decision).map(({ id }) => id)
    expect(decision.primary.refused).toBeNull()
    expect(ids).toEqual([...new Set(ids)])
    expect(actionFor(decision, 'request-changes')?.id ?? 'request_changes').toBe('request_changes')
  }
})

test('offers to undo a merge while it is young, then to revert it, and says what was merged', () => {
  const at = data.task.created_at
  const merged = {
    base_branch: 'main',
    commit: '912b857aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    merged_at: at,
    undo_until: at,
  }
  const task = { status: 'done', merged }
  expect(shown({ task: { status: 'done', merged: null } })).toBe(null)
  const says = { says: 'Merged as 912b857', tone: 'neutral', cannot: {} }
  expect(shown({ task, undoable: true })).toEqual({ ...says, button: 'Undo merge', can: ['revert'] })
  expect(shown({ task })).toEqual({ ...says, button: 'Revert', can: [] })
  expect(actionFor(decided({ task, undoable: true }), 'undo-merge')?.hint).toBe(
    'Moves main back. The task stays approved.',
  )
  const offline = decided({ task, undoable: true, changeRefusal: 'Copse is unreachable' })
  expect(offline?.primary.refused).toBe('Copse is unreachable')
})
