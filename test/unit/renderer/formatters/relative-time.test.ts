import { describe, expect, test } from 'vitest'
import { dayAndTime, duration, relativeTime } from '../../../../src-renderer/formatters/relative-time.ts'

const now = new Date(2026, 10, 21, 15, 0, 0)
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds).toISOString()
const minute = 60_000
const hour = 60 * minute

describe('formats a time as people say it', () => {
  test.each([
    [0, 'now'],
    [59_999, 'now'],
    [-5_000, 'now'],
    [minute, '1 min ago'],
    [59 * minute, '59 min ago'],
    [3 * hour, '3 h ago'],
    [20 * hour, 'yesterday'],
    [3 * 24 * hour, '3 days ago'],
  ])('formats %d ms ago as %s', (past, said) => {
    expect(relativeTime(ago(past), now.getTime())).toBe(said)
  })

  test('shows a date after a week, and a whole one in another year', () => {
    expect(relativeTime(new Date(2026, 9, 12, 9).toISOString(), now.getTime())).toBe('12 Oct')
    expect(relativeTime(new Date(2025, 9, 12, 9).toISOString(), now.getTime())).toBe('12 Oct 2025')
  })

  test('counts hours for recent times, even over midnight', () => {
    const early = new Date(2026, 10, 21, 1, 0, 0)
    expect(relativeTime(new Date(2026, 10, 20, 22, 30).toISOString(), early.getTime())).toBe('2 h ago')
  })
})

test.each([
  [-1, '0:00'],
  [4_000, '0:04'],
  [761_000, '12:41'],
  [3_729_000, '1:02:09'],
])('shows %d ms on a clock as %s', (milliseconds, shown) => {
  expect(duration(milliseconds)).toBe(shown)
})

test.each([
  [new Date(2026, 10, 21, 7, 33), 'Today 07:33'],
  [new Date(2026, 10, 20, 19, 2), 'Yesterday 19:02'],
  [new Date(2026, 9, 12, 9, 5), '12 Oct 09:05'],
  [new Date(2025, 9, 12, 9, 5), '12 Oct 2025 09:05'],
])('shows %s as day and time: %s', (at, said) => {
  expect(dayAndTime(at.toISOString(), now.getTime())).toBe(said)
})
