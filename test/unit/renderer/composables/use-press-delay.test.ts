import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, nextTick, ref } from 'vue'
import { usePressDelay } from '../../../../src-renderer/composables/use-press-delay.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('delays presses on a replacement by half a second, but not on the first', async () => {
  const what = ref('Approve')
  const unread = usePressDelay(() => what.value)
  expect(unread.value).toBeNull()
  what.value = 'Merge'
  await nextTick()
  expect(unread.value).toBe('Read it first.')
  vi.advanceTimersByTime(400)
  // The next content counts as new.
  what.value = 'Deploy'
  await nextTick()
  vi.advanceTimersByTime(499)
  expect(unread.value).not.toBeNull()
  vi.advanceTimersByTime(1)
  expect(unread.value).toBeNull()
})

test('delays presses on what pushes other things aside', () => {
  const unread = usePressDelay(() => 'Allow', { fromStart: true })
  expect(unread.value).not.toBeNull()
  vi.advanceTimersByTime(500)
  expect(unread.value).toBeNull()
})

test('leaves no timer behind', () => {
  const scope = effectScope()
  scope.run(() => usePressDelay(() => 'Allow', { fromStart: true }))
  scope.stop()
  expect(vi.getTimerCount()).toBe(0)
})
