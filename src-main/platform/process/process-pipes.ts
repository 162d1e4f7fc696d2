import type { Socket } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import type { Readable } from 'node:stream'

/** A child's output, which can be read at any time. */
export interface OutputPipe {
  readonly output: Readable
  /** Call once no process of the tree is left: makes sure that the output ends. */
  treeIsGone(): void
}

const checkMs = 250

/**
 * Buffers a child's output, because Node discards unread output when the child exits, and a short-lived child may be
 * faster than its reader.
 */
export function createOutputPipe(source: Readable): OutputPipe {
  const output = new PassThrough()
  // The child's exit tells how it ended; a reader that stops early only closes the pipe.
  pipeline(source, output, () => undefined)
  return { output, treeIsGone: () => closeWhenHeld(source, output) }
}

/**
 * Closes the pipe from this side if it stays open, because a process that escaped every search holds it and no event
 * would ever end it. Waits until nothing arrived between two checks that both had room in the buffer: room that was
 * just made says nothing about data still in the pipe.
 */
function closeWhenHeld(source: Readable, output: PassThrough): void {
  if (source.closed) return
  const look = (): number | null => (output.writableNeedDrain ? null : ((source as Partial<Socket>).bytesRead ?? 0))
  let before = look()
  const timer = setInterval(() => {
    const now = look()
    if (now !== null && now === before) source.push(null)
    before = now
  }, checkMs)
  source.once('end', () => source.destroy())
  source.once('close', () => clearInterval(timer))
}
