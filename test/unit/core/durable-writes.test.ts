import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createDurableWrites } from '../../../src-main/core/durable-writes.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T12:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

const failure = (code: string) => Object.assign(new Error(code), { code })
const writes = () => createDurableWrites({ log: createLogger({ level: 'silent' }) })

/** A write that fails the given number of times, with the times of its attempts. */
function failing(times: number, code = 'SQLITE_BUSY') {
  const began = Date.now()
  const attempts: number[] = []
  const write = () => {
    attempts.push(Date.now() - began)
    if (attempts.length <= times) throw failure(code)
    return 'written'
  }
  return { write, attempts }
}

test('retries a failed write after pauses that grow to five seconds', async () => {
  const { write, attempts } = failing(9)
  const written = writes().untilWritten(write)
  expect(attempts).toEqual([0])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await written).toBe('written')
  expect(attempts).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300, 21_300])
})

test.each(['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'ENOSPC', 'EDQUOT'])(
  'retries a write that fails with %s',
  async (code) => {
    const written = writes().untilWritten(failing(1, code).write)
    await vi.advanceTimersByTimeAsync(100)
    expect(await written).toBe('written')
  },
)

test.each(['SQLITE_CONSTRAINT_FOREIGNKEY', 'SQLITE_CORRUPT', 'ENOENT', 'version_conflict'])(
  'does not retry after an error with %s',
  async (code) => {
    await expect(writes().untilWritten(failing(1, code).write)).rejects.toThrow(code)
  },
)

test('gives up a write that no one needs', async () => {
  const abort = new AbortController()
  const written = writes().untilWritten(failing(Infinity).write, abort.signal)
  const refused = expect(written).rejects.toThrow('SQLITE_BUSY')
  abort.abort()
  await vi.advanceTimersByTimeAsync(0)
  await refused
})

test('waits at most three more seconds when the service ends', async () => {
  const all = writes()
  const [soon, never] = [failing(10), failing(Infinity)]
  const written = all.untilWritten(soon.write)
  const lost = expect(all.untilWritten(never.write)).rejects.toThrow('SQLITE_BUSY')
  await vi.advanceTimersByTimeAsync(21_000)
  all.close()
  await vi.advanceTimersByTimeAsync(4_000)
  expect(await written).toBe('written')
  await lost
})
