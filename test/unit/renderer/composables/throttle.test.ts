import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { throttle } from '../../../../src-renderer/composables/throttle.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('runs the first call at once, and later ones together after the pause', () => {
  let done = 0
  const paced = throttle(300, () => done++)
  for (let n = 0; n < 20; n++) paced.ask()
  expect(done).toBe(1)
  vi.advanceTimersByTime(299)
  expect(done).toBe(1)
  vi.advanceTimersByTime(1)
  expect(done).toBe(2)
  vi.advanceTimersByTime(3_000)
  expect(done).toBe(2)
})

test('runs once per interval in a steady stream, including the last call', () => {
  let done = 0
  const paced = throttle(300, () => done++)
  for (let ms = 0; ms < 3_000; ms += 50) {
    paced.ask()
    vi.advanceTimersByTime(50)
  }
  expect(done).toBe(11)
})

test('does nothing after a stop', () => {
  let done = 0
  const paced = throttle(300, () => done++)
  paced.ask()
  paced.ask()
  paced.stop()
  vi.advanceTimersByTime(1_000)
  expect(done).toBe(1)
})
