import { describe, expect, test } from 'vitest'
import { hookReason, skippedOnce } from '../../../../src-renderer/composables/hook-reason.ts'
import {
  activityDays,
  activityItems,
  dayLabel,
  timeInStates,
  type ActivityItem,
} from '../../../../src-renderer/features/task/activity-items.ts'
import { runOf } from '../hooks/hook-run-fixture.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'

const now = new Date(2026, 10, 21, 12, 0)
const data = panelData(now.getTime())

describe('the timeline', () => {
  test('shows every move and only the hooks that did not go well', () => {
    const kinds = activityDays(data.transitions, [], false).flatMap((day) => day.items.map((item) => item.kind))
    expect(kinds.filter((kind) => kind === 'transition')).toHaveLength(6)
    expect(kinds.filter((kind) => kind === 'hook')).toHaveLength(2)
  })
  test('turns around whole', () => {
    const keys = (newest: boolean) =>
      activityDays(data.transitions, [], newest).flatMap((day) => day.items.map((i) => i.key))
    expect(keys(true)).toEqual(keys(false).reverse())
  })
  test('days have names people use', () => {
    expect([dayLabel('2026-11-21', now), dayLabel('2026-11-20', now), dayLabel('2026-11-03', now)]).toEqual([
      'Today',
      'Yesterday',
      '3 Nov 2026',
    ])
  })
})

test('the time in each state adds up to the task’s age, and stops at the end', () => {
  const times = timeInStates(data.transitions, data.task.created_at, 'in_progress', workflow, now.getTime())
  expect(times.reduce((sum, time) => sum + time.ms, 0)).toBe(now.getTime() - Date.parse(data.task.created_at))
  const done = timeInStates(data.transitions, data.task.created_at, 'done', workflow, now.getTime())
  expect(done.some((time) => time.state === 'done')).toBe(false)
})

describe('hooks in the timeline', () => {
  const [entry] = data.transitions
  if (!entry) throw new Error('The fixture is empty.')
  const moved = { ...entry, created_at: '2026-11-21T08:00:00.000Z' }
  const failed = runOf(40, { status: 'failed', exit_code: 1, reason: 'exit code 1' })
  const blocked = { phase: 'before_work', action: 'script', outcome: 'blocked', duration_ms: 900 } as const
  const hooksOf = (items: readonly ActivityItem[]) => items.flatMap((item) => (item.kind === 'hook' ? [item] : []))

  test('one that a transition names stands at its own time, once, with its log', () => {
    const hooks = [{ ...blocked, log_name: failed.log_name }]
    expect(hooksOf(activityItems([{ ...moved, hooks }], [failed]))).toEqual([
      { kind: 'hook', key: `${entry.id}-0`, at: failed.started_at, hook: hooks[0], run: failed },
    ])
  })
  test('one that no transition names is there too, unless it went well or still goes', () => {
    const timedOut = runOf(50, {
      event: 'on_work_stop',
      status: 'timed_out',
      exit_code: null,
      reason: 'ran out of its 30 s',
    })
    const runs = [timedOut, runOf(49), runOf(48, { status: 'running', duration_ms: null, exit_code: null })]
    const items = hooksOf(activityItems([{ ...moved, hooks: [] }], runs))
    expect(items.map(({ key, hook }) => [key, hook.phase, hook.outcome, hook.reason])).toEqual([
      [timedOut.log_name, 'on_work_stop', 'failed', 'ran out of its 30 s'],
    ])
  })
  test('a skip stands when somebody made it, after the failure whose log it names', () => {
    const skip = 'skipped once by user:mara at 2026-11-21T08:05:00.000Z: stale lock: mine'
    const hooks = [
      { ...blocked, log_name: failed.log_name },
      { ...blocked, outcome: 'skipped' as const, reason: skip, log_name: failed.log_name },
    ]
    expect(hooksOf(activityItems([{ ...moved, hooks }], [failed])).map(({ at }) => at)).toEqual([
      failed.started_at,
      '2026-11-21T08:05:00.000Z',
    ])
    expect(skippedOnce(skip)).toEqual({ by: 'user:mara', at: '2026-11-21T08:05:00.000Z', why: 'stale lock: mine' })
    expect(skippedOnce('no_workspace')).toBeNull()
    expect(skippedOnce('skipped once by me at noon: no')).toBeNull()
  })
})

test('a skipped hook says why in a sentence', () => {
  expect(hookReason('no_agent')).toBe('Nobody has the role.')
  expect(hookReason('exit code 3: no such file')).toBe('exit code 3: no such file')
})
