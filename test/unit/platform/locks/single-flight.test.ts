import { expect, test } from 'vitest'
import { createSingleFlight } from '../../../../src-main/platform/locks/single-flight.ts'

const never = new AbortController().signal
const diff = { place: '/w', what: 'diff' }

/** A read that ends on demand; each returns its number. */
function createReads() {
  const started: { readonly finish: (error?: Error) => void; readonly signal: AbortSignal }[] = []
  const read = (signal: AbortSignal) =>
    new Promise<number>((resolve, reject) => {
      const number = started.length
      const finish = (error?: Error) => {
        if (error) reject(error)
        else resolve(number)
      }
      started.push({ finish, signal })
    })
  return { started, read, at: (number: number) => started[number] ?? fail(number) }
}

function fail(number: number): never {
  throw new Error(`Read ${number} has not started.`)
}

test('shares the next read among callers that come during one', async () => {
  const shared = createSingleFlight()
  const { started, read, at } = createReads()
  const first = shared.run(diff, never, read)
  await Promise.resolve()
  const later = [shared.run(diff, never, read), shared.run(diff, never, read)]
  await Promise.resolve()
  expect(started).toHaveLength(1)
  at(0).finish()
  expect(await first).toBe(0)
  await Promise.resolve()
  expect(started).toHaveLength(2)
  at(1).finish()
  expect(await Promise.all(later)).toEqual([1, 1])
})

test('reads one place one at a time, and other places in parallel', async () => {
  const shared = createSingleFlight()
  const { started, read, at } = createReads()
  const all = [
    shared.run(diff, never, read),
    shared.run({ ...diff, what: 'other' }, never, read),
    shared.run({ ...diff, place: '/v' }, never, read),
    shared.inTurn('/w', () => read(never)),
  ]
  await Promise.resolve()
  expect(started).toHaveLength(2)
  at(0).finish()
  at(1).finish()
  await Promise.all([all[0], all[2]])
  at(2).finish()
  await all[1]
  at(3).finish()
  expect(await Promise.all(all)).toEqual([0, 2, 1, 3])
})

test('rejects a caller that gives up at once, and continues for the others', async () => {
  const shared = createSingleFlight()
  const { read, at } = createReads()
  const [one, two] = [new AbortController(), new AbortController()]
  const asked = [one, two].map((asker) => shared.run(diff, asker.signal, read))
  await Promise.resolve()
  const reason = new Error('enough')
  one.abort(reason)
  await expect(asked[0]).rejects.toBe(reason)
  expect(at(0).signal.aborted).toBe(false)
  at(0).finish()
  expect(await asked[1]).toBe(0)
})

test('cancels a read that no one waits for, and never begins a waiting one', async () => {
  const shared = createSingleFlight()
  const { started, read, at } = createReads()
  const [one, two] = [new AbortController(), new AbortController()]
  const running = shared.run(diff, one.signal, read)
  await Promise.resolve()
  const waiting = shared.run(diff, two.signal, read)
  two.abort(new Error('never mind'))
  await expect(waiting).rejects.toThrow('never mind')
  const anew = shared.run(diff, never, read)
  one.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
  expect(at(0).signal.reason).toEqual(new Error('enough'))
  at(0).finish(new Error('stopped'))
  await expect.poll(() => started.length).toBe(2)
  at(1).finish()
  expect(await anew).toBe(1)
})

test('reports a failure to all callers, and reads again next time', async () => {
  const shared = createSingleFlight()
  const { read, at } = createReads()
  const asked = [shared.run(diff, never, read), shared.run(diff, never, read)]
  await Promise.resolve()
  at(0).finish(new Error('git broke'))
  for (const one of asked) await expect(one).rejects.toThrow('git broke')
  const again = shared.run(diff, never, read)
  await expect.poll(() => at(1)).toBeTruthy()
  at(1).finish()
  expect(await again).toBe(1)
})

test('begins nothing for a call that is already cancelled', async () => {
  const shared = createSingleFlight()
  const { started, read } = createReads()
  await expect(shared.run(diff, AbortSignal.abort(new Error('no')), read)).rejects.toThrow('no')
  expect(started).toEqual([])
})
