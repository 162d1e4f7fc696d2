import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOutputPipe } from '../../../../src-main/platform/process/process-pipes.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A system pipe that holds `waiting` until its reader has room, and never closes. */
function heldPipe(waiting: string[]): Readable & { bytesRead: number } {
  const pipe = Object.assign(
    new Readable({
      highWaterMark: 1,
      // Like a socket: waiting data arrives in a later turn of the event loop.
      read() {
        setImmediate(() => {
          const next = waiting.shift()
          if (next === undefined) return
          pipe.bytesRead += next.length
          pipe.push(next)
        })
      },
    }),
    { bytesRead: 0 },
  )
  return pipe
}

test('keeps what is still in the pipe of a slow reader when room is made', async () => {
  const source = heldPipe(['a'.repeat(70_000), 'the end'])
  const { output, treeIsGone } = createOutputPipe(source)
  await turn()
  await turn()
  treeIsGone()
  vi.advanceTimersByTime(250)
  const seen: string[] = []
  output.on('data', (bytes: Buffer) => seen.push(bytes.toString()))
  await new Promise((resolve) => process.nextTick(resolve))
  // The next check comes when there is room, before the pipe has had its turn.
  vi.advanceTimersByTime(250)
  for (let turns = 0; turns < 10; turns++) await turn()
  expect(seen.join('').endsWith('the end')).toBe(true)
})

test('ends a pipe that another process holds, once nothing comes any more', async () => {
  const { output, treeIsGone } = createOutputPipe(heldPipe(['words']))
  const words = output.toArray()
  for (let turns = 0; turns < 10; turns++) await turn()
  treeIsGone()
  for (let looks = 0; looks < 3; looks++) {
    vi.advanceTimersByTime(250)
    await turn()
  }
  expect(Buffer.concat((await words) as Buffer[]).toString()).toBe('words')
})
