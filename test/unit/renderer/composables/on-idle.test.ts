import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onIdle } from '../../../../src-renderer/composables/on-idle.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a browser that does not tell when it is idle is left some time, unless it is called off', () => {
  const done: string[] = []
  onIdle(() => done.push('kept'))
  onIdle(() => done.push('called off'))()
  expect(done).toEqual([])
  vi.runAllTimers()
  expect(done).toEqual(['kept'])
})

test('one that tells is waited for, but not for ever', () => {
  const asked = vi.fn((work: () => void, options: { readonly timeout: number }) => (work(), options.timeout))
  const calledOff = vi.fn()
  vi.stubGlobal('requestIdleCallback', asked)
  vi.stubGlobal('cancelIdleCallback', calledOff)
  const work = vi.fn()
  onIdle(work)()
  expect(work).toHaveBeenCalledOnce()
  expect(calledOff).toHaveBeenCalledExactlyOnceWith(1_000)
})
