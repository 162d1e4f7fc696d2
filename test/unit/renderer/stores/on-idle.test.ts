import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onIdle } from '../../../../src-renderer/stores/base/on-idle.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('waits some time in a browser without idle callbacks, unless it is cancelled', () => {
  const done: string[] = []
  onIdle(() => done.push('kept'))
  onIdle(() => done.push('called off'))()
  expect(done).toEqual([])
  vi.runAllTimers()
  expect(done).toEqual(['kept'])
})

test('waits for an idle browser, but not forever', () => {
  const asked = vi.fn((work: () => void, options: { readonly timeout: number }) => (work(), options.timeout))
  const calledOff = vi.fn()
  vi.stubGlobal('requestIdleCallback', asked)
  vi.stubGlobal('cancelIdleCallback', calledOff)
  const work = vi.fn()
  onIdle(work)()
  expect(work).toHaveBeenCalledOnce()
  expect(calledOff).toHaveBeenCalledExactlyOnceWith(1_000)
})
