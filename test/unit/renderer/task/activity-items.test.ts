import { describe, expect, test } from 'vitest'
import { hookReason } from '../../../../src-renderer/composables/hook-reason.ts'
import { activityDays, dayLabel, timeInStates } from '../../../../src-renderer/features/task/activity-items.ts'
import { panelData, workflow } from '../../../helpers/task-panel-data.ts'

const now = new Date(2026, 10, 21, 12, 0)
const data = panelData(now.getTime())

describe('the timeline', () => {
  test('shows every move and only the hooks that did not go well', () => {
    const kinds = activityDays(data.transitions, false).flatMap((day) => day.items.map((item) => item.kind))
    expect(kinds.filter((kind) => kind === 'transition')).toHaveLength(6)
    expect(kinds.filter((kind) => kind === 'hook')).toHaveLength(2)
  })
  test('turns around whole', () => {
    const keys = (newest: boolean) =>
      activityDays(data.transitions, newest).flatMap((day) => day.items.map((i) => i.key))
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

test('a skipped hook says why in a sentence', () => {
  expect(hookReason('no_agent')).toBe('Nobody has the role.')
  expect(hookReason('exit code 3: no such file')).toBe('exit code 3: no such file')
})
