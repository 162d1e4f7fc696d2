import type { Socket } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import type { Readable } from 'node:stream'

/** The output of a child, to be read at any time. */
export interface OutputPipe {
  readonly output: Readable
  /** Call once nothing of the tree is left: makes sure that the output comes to its end. */
  treeIsGone(): void
}

const checkMs = 250

/**
 * Puts a buffer behind a child's output: Node throws away what nobody reads by the time the child
 * exits, and a short-lived child may be faster than its reader.
 */
export function createOutputPipe(source: Readable): OutputPipe {
  const output = new PassThrough()
  // How the child ended is told by its exit; a reader that turns away closes the pipe, and that is all.
  pipeline(source, output, () => undefined)
  return { output, treeIsGone: () => closeWhenHeld(source, output) }
}

/**
 * A process that escaped every search keeps the pipe open, and then no event ever says that nothing more
 * will come. So it is closed from this side once nothing has come between two looks, with room for it at both:
 * room that has just been made says nothing yet of what still waits in the pipe.
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
