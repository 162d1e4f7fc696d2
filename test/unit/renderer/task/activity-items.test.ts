import { describe, expect, test } from 'vitest'
import {
  activityFilters,
  passes,
  type ActivityFacts,
  type ActivityItem,
} from '../../../../src-renderer/features/task/activity-item.ts'
import { activityDays, activityItems, dayLabel } from '../../../../src-renderer/features/task/activity-items.ts'
import { runSums, sumOf, timeInStates } from '../../../../src-renderer/features/task/activity-summary.ts'
import { hookReason, skippedOnce } from '../../../../src-renderer/formatters/hook-reason.ts'
import type { Comment } from '../../../../src-shared/contract/comments.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'
import { ago, id } from '../../../helpers/task-panel-ids.ts'
import { runOf } from '../hooks/hook-run-fixture.ts'

const now = new Date(2026, 10, 21, 12, 0)
const data = panelData(now.getTime())
const comment: Comment = {
  id: id(90),
  task_id: data.task.id,
  parent_id: null,
  author: { type: 'user', id: null, name: 'Mara' },
  body: 'Same transaction as the attempt, please.',
  anchor: null,
  state: 'draft',
  sent: null,
  answer: null,
  original: null,
  applied: null,
  resolved_at: null,
  created_at: ago(45, now.getTime()),
  updated_at: ago(45, now.getTime()),
}
const facts: ActivityFacts = { ...data, hooks: [], comments: [comment], workflow }
const none: ActivityFacts = { ...facts, transitions: [], executions: [], reviews: [], comments: [], workspace: null }

describe('the timeline', () => {
  test('contains moves, hooks, runs, CI, verdicts, comments and the worktree, oldest first', () => {
    expect(activityItems(facts).map(({ kind }) => kind)).toEqual([
      'created',
      'transition',
      'execution',
      'worktree',
      'transition',
      'transition',
      'ci',
      'transition',
      'comment',
      'transition',
      'hook',
      'transition',
      'execution',
      'execution',
      'ci',
      'verdict',
    ])
  })
  test('shows a rejection once, with the attempt that it ended', () => {
    const items = activityItems(facts)
    const rejections = items.flatMap((item) => (item.kind === 'transition' && item.entry.rejection ? [item] : []))
    expect(rejections.map(({ attempt }) => attempt?.attempt_number)).toEqual([1, 2])
    expect(items.flatMap((item) => (item.kind === 'verdict' ? [item.verdict.verdict] : []))).toEqual(['pass'])
    expect(items.flatMap((item) => (item.kind === 'ci' ? [item.review.attempt_number] : []))).toEqual([1, 3])
    expect(items.flatMap((item) => (item.kind === 'hook' ? [item.hook.action] : []))).toEqual(['notify_slack'])
  })
  test('keeps CI that failed without a rejection, and its hook without an attempt', () => {
    const alone = activityItems({ ...none, reviews: data.reviews.filter(({ attempt_number }) => attempt_number === 2) })
    expect(alone.map(({ kind }) => kind)).toEqual(['created', 'ci'])
    const hooks = activityItems({ ...none, transitions: data.transitions }).filter(({ kind }) => kind === 'hook')
    expect(hooks).toHaveLength(2)
  })
  test('shows runs where they ended, numbered by start, and none that never ran', () => {
    const [running] = data.executions
    if (!running) throw new Error('The fixture is empty.')
    const queued = { ...running, id: id<typeof running.id>(99), status: 'queued' as const, started_at: null }
    const items = activityItems({ ...none, executions: [queued, ...data.executions] })
    expect(
      items.flatMap((item) => (item.kind === 'execution' ? [[item.n, item.execution.status, item.at]] : [])),
    ).toEqual([
      [1, 'succeeded', ago(120, now.getTime())],
      [2, 'failed', ago(34, now.getTime())],
      [3, 'running', ago(12.7, now.getTime())],
    ])
  })
  test('can be limited to a kind, and every kind belongs to a filter', () => {
    const items = activityItems(facts)
    const narrow = activityFilters.filter(({ id }) => id !== 'all')
    for (const item of items) {
      expect(passes('all', item)).toBe(true)
      expect(narrow.filter((filter) => passes(filter.id, item))).toHaveLength(1)
    }
    expect(items.filter((item) => passes('words', item)).map(({ kind }) => kind)).toEqual(['comment', 'verdict'])
  })
  test('can be reversed', () => {
    const keys = (newest: boolean) =>
      activityDays(activityItems(facts), newest).flatMap((day) => day.items.map((i) => i.key))
    expect(keys(true)).toEqual(keys(false).reverse())
  })
  test('names days as people do', () => {
    expect([dayLabel('2026-11-21', now), dayLabel('2026-11-20', now), dayLabel('2026-11-03', now)]).toEqual([
      'Today',
      'Yesterday',
      '3 Nov 2026',
    ])
  })
})

describe('beside the timeline', () => {
  test('adds the time in each state up to the task’s age, and stops at the end', () => {
    const times = timeInStates(data.transitions, data.task.created_at, 'in_progress', workflow, now.getTime())
    expect(times.reduce((sum, time) => sum + time.ms, 0)).toBe(now.getTime() - Date.parse(data.task.created_at))
    const done = timeInStates(data.transitions, data.task.created_at, 'done', workflow, now.getTime())
    expect(done.some((time) => time.state === 'done')).toBe(false)
  })
  test('adds up runs by role and worker', () => {
    const [first, second, third] = data.executions
    if (!first || !second || !third) throw new Error('The fixture is empty.')
    const free = { ...first, role: 'reviewer', executor: 'codex' as const }
    expect(runSums([second, free, third], ({ executor }) => executor)).toEqual([
      { role: 'coder', name: 'claude-code', runs: 2, tokens: 1_415_200, cost_usd: 13.34 },
      { role: 'reviewer', name: 'codex', runs: 1, tokens: 0, cost_usd: null },
    ])
    expect(sumOf([{ ...first, started_at: null }])).toEqual({ runs: 0, tokens: 0, cost_usd: null })
  })
})

describe('hooks in the timeline', () => {
  const [entry] = data.transitions
  if (!entry) throw new Error('The fixture is empty.')
  const moved = { ...entry, created_at: '2026-11-21T08:00:00.000Z' }
  const failed = runOf(40, { status: 'failed', exit_code: 1, reason: 'exit code 1' })
  const blocked = { phase: 'before_work', action: 'script', outcome: 'blocked', duration_ms: 900 } as const
  const hooksOf = (items: readonly ActivityItem[]) => items.flatMap((item) => (item.kind === 'hook' ? [item] : []))

  test('appear once at their own time with their log if a transition names them', () => {
    const hooks = [{ ...blocked, log_name: failed.log_name }]
    expect(hooksOf(activityItems({ ...none, transitions: [{ ...moved, hooks }], hooks: [failed] }))).toEqual([
      { kind: 'hook', key: `${entry.id}-0`, at: failed.started_at, hook: hooks[0], run: failed },
    ])
  })
  test('appear without a transition, unless they went well or still run', () => {
    const timedOut = runOf(50, {
      event: 'on_work_stop',
      status: 'timed_out',
      exit_code: null,
      reason: 'timed out after 30 s',
    })
    const runs = [timedOut, runOf(49), runOf(48, { status: 'running', duration_ms: null, exit_code: null })]
    const items = hooksOf(activityItems({ ...none, transitions: [{ ...moved, hooks: [] }], hooks: runs }))
    expect(items.map(({ key, hook }) => [key, hook.phase, hook.outcome, hook.reason])).toEqual([
      [timedOut.log_name, 'on_work_stop', 'failed', 'timed out after 30 s'],
    ])
  })
  test('appear after a success only where a person updated the branch', () => {
    const fine = { phase: 'after_enter', action: 'script', outcome: 'ok', duration_ms: 5 } as const
    const hooks = [fine, { ...fine, action: 'update_branch' }]
    const items = hooksOf(activityItems({ ...none, transitions: [{ ...moved, hooks }] }))
    expect(items.map(({ hook }) => hook.action)).toEqual(['update_branch'])
  })
  test('show a skip when it was made, after the failure whose log it names', () => {
    const skip = 'skipped once by user:mara at 2026-11-21T08:05:00.000Z: stale lock: mine'
    const hooks = [
      { ...blocked, log_name: failed.log_name },
      { ...blocked, outcome: 'skipped' as const, reason: skip, log_name: failed.log_name },
    ]
    const items = hooksOf(activityItems({ ...none, transitions: [{ ...moved, hooks }], hooks: [failed] }))
    expect(items.map(({ at }) => at)).toEqual([failed.started_at, '2026-11-21T08:05:00.000Z'])
    expect(skippedOnce(skip)).toEqual({ by: 'user:mara', at: '2026-11-21T08:05:00.000Z', why: 'stale lock: mine' })
    expect(skippedOnce('no_workspace')).toBeNull()
    expect(skippedOnce('skipped once by me at noon: no')).toBeNull()
  })
})

test('say in a sentence why they were skipped', () => {
  expect(hookReason('no_agent')).toBe('No one is assigned to this role.')
  expect(hookReason('exit code 3: no such file')).toBe('exit code 3: no such file')
})
