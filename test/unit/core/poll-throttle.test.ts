import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPollThrottle } from '../../../src-main/core/poll-throttle.ts'
import { ProjectId } from '../../../src-shared/contract/ids.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const [one, other] = [
  ProjectId.parse('0198c0de-0000-7000-8000-000000000001'),
  ProjectId.parse('0198c0de-0000-7000-8000-000000000002'),
]

test('polls at the first word, and once more for all others within ten seconds', () => {
  const polled: string[] = []
  const throttle = createPollThrottle((project_id) => void polled.push(project_id))
  for (let count = 0; count < 50; count++) throttle.ask(one)
  throttle.ask(other)
  expect(polled).toEqual([one, other])
  vi.advanceTimersByTime(9_999)
  expect(polled).toEqual([one, other])
  vi.advanceTimersByTime(1)
  expect(polled).toEqual([one, other, one])
  // The second one begins ten seconds of its own.
  throttle.ask(one)
  vi.advanceTimersByTime(9_999)
  expect(polled).toHaveLength(3)
  vi.advanceTimersByTime(1)
  expect(polled).toHaveLength(4)
})

test('polls at once again after ten seconds without a word', () => {
  const poll = vi.fn()
  const throttle = createPollThrottle(poll)
  throttle.ask(one)
  vi.advanceTimersByTime(10_000)
  expect(poll).toHaveBeenCalledTimes(1)
  throttle.ask(one)
  expect(poll).toHaveBeenCalledTimes(2)
})

test('holds a flood to one poll in ten seconds', () => {
  const poll = vi.fn()
  const throttle = createPollThrottle(poll)
  for (let ms = 0; ms < 60_000; ms += 50) {
    throttle.ask(one)
    vi.advanceTimersByTime(50)
  }
  expect(poll).toHaveBeenCalledTimes(7)
})

test('asks no more once it is stopped', () => {
  const poll = vi.fn()
  const throttle = createPollThrottle(poll)
  throttle.ask(one)
  throttle.ask(one)
  throttle.stop()
  vi.advanceTimersByTime(60_000)
  expect(poll).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})
