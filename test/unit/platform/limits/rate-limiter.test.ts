import { expect, test } from 'vitest'
import { createRateLimiter } from '../../../../src-main/platform/limits/rate-limiter.ts'

function limiterOf(limit: number) {
  const time = { now: 1_000 }
  return { time, limiter: createRateLimiter(limit, 60_000, () => time.now) }
}

test('a key is allowed its limit in each window, and others are counted apart', () => {
  const { time, limiter } = limiterOf(2)
  limiter.add('a')
  expect(limiter.waitMs('a')).toBe(0)
  limiter.add('a')
  time.now += 20_000
  expect([limiter.waitMs('a'), limiter.waitMs('b')]).toEqual([40_000, 0])
  time.now += 40_000
  expect(limiter.waitMs('a')).toBe(0)
})

test('what is taken back does not count, and after its window changes nothing', () => {
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

test('a clock that is set back locks nobody out', () => {
  const { time, limiter } = limiterOf(1)
  limiter.add('a')
  time.now -= 3_600_000
  expect(limiter.waitMs('a')).toBe(0)
})

test('of more keys than are kept, the oldest is forgotten', () => {
  const { limiter } = limiterOf(1)
  for (let index = 0; index <= 10_000; index++) limiter.add(`k${index}`)
  expect([limiter.waitMs('k0'), limiter.waitMs('k1')]).toEqual([0, 60_000])
})
