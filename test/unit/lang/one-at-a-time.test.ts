import { expect, test } from 'vitest'
import { oneAtATime } from '../../../src-shared/lang/one-at-a-time.ts'

/** Work that ends on demand. */
function setUp() {
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const run = oneAtATime(() => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    ends.push({ resolve, reject })
    return promise
  })
  return { run, ends }
}

test('does once, afterwards, what is requested during a run', async () => {
  const { run, ends } = setUp()
  const first = run()
  const others = [run(), run(), run()]
  expect(ends).toHaveLength(1)
  ends[0]?.resolve()
  await first
  await Promise.resolve()
  expect(ends).toHaveLength(2)
  ends[1]?.resolve()
  await Promise.all(others)
  expect(ends).toHaveLength(2)
})

test('reports a failure to its own caller and runs the next', async () => {
  const { run, ends } = setUp()
  const first = run()
  const second = run()
  ends[0]?.reject(new Error('Lost.'))
  await expect(first).rejects.toThrow('Lost.')
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.resolve()
  await second
})

test('starts at once when nothing runs', async () => {
  const { run, ends } = setUp()
  const first = run()
  ends[0]?.resolve()
  await first
  void run()
  expect(ends).toHaveLength(2)
})
