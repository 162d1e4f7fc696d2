import type { Readable } from 'node:stream'

const checkMs = 250

/**
 * Makes sure that the output of an ended tree comes to its end. A process that escaped every search
 * keeps the pipe open, and then no event ever says that nothing more will come; so once nothing
 * has come for a moment although somebody reads, the stream is closed from this side.
 */
export function closeHeldPipes(streams: readonly (Readable & { readonly bytesRead?: number })[]): void {
  for (const stream of streams) {
    if (stream.closed) continue
    let seen = stream.bytesRead ?? 0
    const timer = setInterval(() => {
      const now = stream.bytesRead ?? 0
      const idle = now === seen && stream.readableLength === 0 && !stream.isPaused()
      seen = now
      if (idle) stream.push(null)
    }, checkMs)
    timer.unref()
    stream.once('end', () => stream.destroy())
    stream.once('close', () => clearInterval(timer))
  }
}
