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
 * will come. So once nothing has come for a moment although there is room, it is closed from this side.
 */
function closeWhenHeld(source: Readable, output: PassThrough): void {
  if (source.closed) return
  const received = (): number => (source as Partial<Socket>).bytesRead ?? 0
  let seen = received()
  const timer = setInterval(() => {
    const now = received()
    if (now === seen && !output.writableNeedDrain) source.push(null)
    seen = now
  }, checkMs)
  source.once('end', () => source.destroy())
  source.once('close', () => clearInterval(timer))
}
