import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextPoll, pausedUntil, sinceOf } from '../../../src-main/integrations/rules/next-poll.ts'

const now = Date.parse('2026-11-21T09:00:00Z')
const minutes = (count: number) => count * 60_000
const at = (headers: Record<string, string>) => pausedUntil({ now, header: (name) => headers[name] ?? null })

test('doubles the wait with every failure, up to an hour', () => {
  const waits = [0, 1, 2, 3, 4, 9].map(
    (failures) => nextPoll({ now, interval_ms: minutes(5), failures, not_before: null, chance: 0 }) - now,
  )
  expect(waits).toEqual([5, 10, 20, 40, 60, 60].map(minutes))
})

test('asks a tracker neither before its interval and limits allow, nor much later', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 86_400_000 }),
      fc.nat(1_000),
      fc.option(fc.integer({ min: 0, max: 86_400_000 })),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (interval_ms, failures, pause, chance) => {
        const not_before = pause === null ? null : now + pause
        const next = nextPoll({ now, interval_ms, failures, not_before, chance })
        expect(next).toBeGreaterThanOrEqual(Math.max(now + interval_ms, not_before ?? 0))
        expect(next).toBeLessThanOrEqual(Math.max(now + 1.1 * Math.max(interval_ms, 3_600_000) + 1, not_before ?? 0))
      },
    ),
  )
})

test.each<[string, Record<string, string>, number | null]>([
  ['nothing is said', {}, null],
  ['there is room left', { 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': '1795251600' }, null],
  ['seconds to wait', { 'retry-after': '90' }, 90_000],
  ['a moment to wait for', { 'retry-after': 'Sat, 21 Nov 2026 09:02:00 GMT' }, 120_000],
  [
    'a moment by a clock that is an hour ahead',
    { 'retry-after': 'Sat, 21 Nov 2026 10:02:00 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
    120_000,
  ],
  ['the limit is used up', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1_000 + 600) }, 600_000],
  [
    'the limit is used up, by a clock that is an hour behind',
    {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(now / 1_000 - 3_000),
      date: 'Sat, 21 Nov 2026 08:00:00 GMT',
    },
    600_000,
  ],
  [
    'the limit is used up, in GitLab’s words',
    { 'ratelimit-remaining': '0', 'ratelimit-reset': String(now / 1_000 + 600) },
    600_000,
  ],
  ['the limit is used up, and nobody says until when', { 'x-ratelimit-remaining': '0' }, 60_000],
  ['a reset that has passed', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '12' }, 1_000],
  ['patience without an end', { 'retry-after': '999999999999' }, 86_400_000],
  ['milliseconds for seconds', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1507651200000' }, 86_400_000],
  ['nonsense', { 'retry-after': 'soon', 'x-ratelimit-remaining': 'some' }, null],
])('%s', (_what, headers, wait) => {
  const until = at(headers)
  expect(until === null ? null : until - now).toBe(wait)
})

test('asks for changes since the earlier of both clocks, with a minute to spare', () => {
  expect(sinceOf(now, null)).toBe('2026-11-21T08:59:00.000Z')
  expect(sinceOf(now, now - minutes(60))).toBe('2026-11-21T07:59:00.000Z')
  expect(sinceOf(now, now + minutes(60))).toBe('2026-11-21T08:59:00.000Z')
})
