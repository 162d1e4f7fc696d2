import { Duplex, type Readable, type Writable } from 'node:stream'

/** What a stream said before and after a text that was waited for. */
export interface Heard {
  readonly before: Buffer
  /** Already read of what follows. */
  readonly rest: Buffer
}

/**
 * Reads until the stream has said `wanted`, and pauses it then. Resolves with null if it ends or breaks before, or says
 * more than `max` bytes; `said` then has what it said.
 */
export function readUntil(
  stream: Readable,
  wanted: string,
  max: number,
): Promise<{ readonly heard: Heard | null; readonly said: Buffer }> {
  const bytes = Buffer.from(wanted)
  let said = Buffer.alloc(0)
  return new Promise((resolve) => {
    const settle = (heard: Heard | null): void => {
      stream.off('data', take).off('end', fail).off('close', fail).off('error', fail)
      stream.pause()
      resolve({ heard, said })
    }
    const take = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk])
      const at = said.indexOf(bytes)
      if (at >= 0) settle({ before: said.subarray(0, at), rest: said.subarray(at + bytes.length) })
      else if (said.length > max) settle(null)
    }
    const fail = (): void => settle(null)
    stream.on('data', take).on('end', fail).on('close', fail).on('error', fail)
    // It may have been paused by the wait before.
    stream.resume()
  })
}

/**
 * Joins an input and an output to one stream, which begins with what was already read. Node's own `Duplex.from` loses
 * what a stream holds that was read from before.
 */
export class Carrier extends Duplex {
  readonly #readable: Readable
  readonly #writable: Writable

  constructor(readable: Readable, writable: Writable, first: Uint8Array) {
    super({ allowHalfOpen: false })
    this.#readable = readable
    this.#writable = writable
    if (first.length > 0) this.push(first)
    const fail = (error: Error): void => void this.destroy(error)
    readable.on('error', fail)
    writable.on('error', fail)
    readable.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) readable.pause()
    })
    readable.once('end', () => this.push(null))
    readable.once('close', () => void this.destroy())
  }

  override _read(): void {
    this.#readable.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#writable.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#writable.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#readable.destroy()
    this.#writable.destroy()
    done(error)
  }
}
