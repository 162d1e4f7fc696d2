import type { Readable } from 'node:stream'

/** Yields the lines of a stream; ends with it, and early if it breaks or a line has more than `max` bytes. */
export async function* linesOf(stream: Readable, max: number): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk])
      for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
        if (at > max) return
        yield rest.toString('utf8', 0, at)
        rest = rest.subarray(at + 1)
      }
      if (rest.length > max) return
    }
  } catch (error) {
    if (!stream.destroyed) throw error
  }
}
