import { open, stat, type FileHandle } from 'node:fs/promises'
import type { JobCalls } from './service-calls.ts'
import { isLeaseLost, ServiceRefusal } from './service-calls.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cancellable } from '../ports/cancellable.ts'

/** A log of a job: written to disk first, then sent from where the service has it. */
export interface SentLog {
  readonly name: string
  write(bytes: Uint8Array | string): void
  /** Resolves, once all of it is on disk, with how much of it the service gets. */
  flush(): Promise<number>
  close(): Promise<void>
}

/** The most that is sent at a time. */
const chunkBytes = 1024 * 1024
const retryMs = 1_000

/** Opens a log, and sends what is in it until `signal` aborts; `onLost` hears that the job is no longer ours. */
export async function openSentLog(
  {
    path,
    name,
    calls,
    onLost,
  }: { readonly path: string; readonly name: string; readonly calls: JobCalls; readonly onLost: () => void },
  { signal }: Cancellable,
): Promise<SentLog> {
  const file = await open(path, 'a+', 0o600)
  let written = (await stat(path)).size
  let writing: Promise<unknown> = Promise.resolve()
  let grown = Promise.withResolvers<void>()
  /** The service has no room for more of it. */
  let isFull = false
  let offset = 0
  const ended = aborted(signal)
  const send = async (): Promise<void> => {
    while (!signal.aborted && !isFull) {
      const seen = grown.promise
      if (offset >= written) {
        await Promise.race([seen, ended])
        continue
      }
      const bytes = await readAt(file, offset, Math.min(chunkBytes, written - offset))
      try {
        await calls.log(name, offset, bytes, { signal })
        offset += bytes.length
      } catch (error) {
        const expected =
          error instanceof ServiceRefusal && error.code === 'offset_mismatch' ? error.details['expected'] : null
        if (typeof expected === 'number') offset = expected
        else if (isLeaseLost(error)) return onLost()
        else if (error instanceof ServiceRefusal && error.code === 'payload_too_large') isFull = true
        else await delay(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }
  const sending = send().catch(() => undefined)
  return {
    name,
    write: (bytes) => {
      const data = Buffer.from(bytes)
      writing = writing
        .then(() => file.appendFile(data))
        .then(() => {
          written += data.length
          grown.resolve()
          grown = Promise.withResolvers()
        })
        // A full disk leaves a gap in the log, and the run goes on.
        .catch(() => undefined)
    },
    flush: async () => {
      await writing
      return isFull ? offset : written
    },
    close: async () => {
      await sending
      await writing
      await file.close()
    },
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
