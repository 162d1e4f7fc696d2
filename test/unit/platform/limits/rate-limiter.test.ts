import { expect, test } from 'vitest'
import { createRateLimiter } from '../../../../src-main/platform/limits/rate-limiter.ts'

function limiterOf(limit: number) {
  const time = { now: 1_000 }
  return { time, limiter: createRateLimiter(limit, 60_000, () => time.now) }
}

test('allows each key its limit per window', () => {
  const { time, limiter } = limiterOf(2)
  limiter.add('a')
  expect(limiter.waitMs('a')).toBe(0)
  limiter.add('a')
  time.now += 20_000
  expect([limiter.waitMs('a'), limiter.waitMs('b')]).toEqual([40_000, 0])
  time.now += 40_000
  expect(limiter.waitMs('a')).toBe(0)
})

test('does not count what is taken back, and ignores that after the window', () => {
  const { time, limiter } = limiterOf(1)
  const takeBack = limiter.add('a')
  takeBack()
  expect(limiter.waitMs('a')).toBe(0)
  const late = limiter.add('a')
  time.now += 60_000
  limiter.add('a')
  late()
  expect(limiter.waitMs('a')).toBe(60_000)
})

test('locks no one out when the clock is set back', () => {
  const { time, limiter } = limiterOf(1)
  limiter.add('a')
  time.now -= 3_600_000
  expect(limiter.waitMs('a')).toBe(0)
})

test('forgets the oldest of too many keys', () => {
  const { limiter } = limiterOf(1)
  for (let index = 0; index <= 10_000; index++) limiter.add(`k${index}`)
  expect([limiter.waitMs('k0'), limiter.waitMs('k1')]).toEqual([0, 60_000])
})
