import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createByteTail, type ByteTail } from '../platform/text/byte-tail.ts'
import { joined } from '../platform/text/line-buffer.ts'

/** The logs being written, for readers that follow them. */
export interface LiveLogs {
  isLive(path: string): boolean
  /** A counter that increases when a live log grows or closes. */
  version(path: string): number
  /** Calls `call` once at the next change; returns a function that cancels it. */
  onChange(path: string, call: () => void): () => void
}

/** An append-only file: ordered writes, a bounded queue, an optional cap. */
export interface LogFileWriter {
  /** Resolves when there is room for more; rejects if an earlier write failed. */
  append(bytes: Uint8Array): Promise<void>
  /** The cap is reached: what is appended now is for the tail. */
  readonly isFull: boolean
  /** Resolves when there is room for more, without adding any. */
  room(): Promise<void>
  /** Resolves when all that was added so far is in the file; rejects if a write failed. */
  written(): Promise<void>
  /** Bytes written and queued. */
  readonly size: number
  /** Writes the queue, notes how much was left out, and closes. Safe to call twice. */
  close(): Promise<void>
}

export interface LogFileOptions {
  /** Further bytes are left out, and a last line says how many. */
  readonly maxBytes: number
  /** The last bytes are kept too, after the line that says how many are missing. `show` gets them at the end. */
  readonly tail?: { readonly bytes: number; show(bytes: Uint8Array): Uint8Array }
  /** Lines are records: drop an incomplete last one, which a crash left. */
  readonly records: boolean
}

/** Queue size above which writers wait. */
const highWater = 1024 * 1024

/** Tracks files that this process writes, and the readers that wait for them. */
export function createLiveLogs(): LiveLogs & {
  openWriter(path: string, options: LogFileOptions): Promise<LogFileWriter>
} {
  const live = new Map<string, { writers: number; version: number; calls: Set<() => void> }>()
  const changed = (path: string): void => {
    const log = live.get(path)
    if (!log) return
    log.version++
    const calls = [...log.calls]
    log.calls.clear()
    for (const call of calls) call()
  }
  return {
    isLive: (path) => live.has(path),
    version: (path) => live.get(path)?.version ?? -1,
    onChange(path, call) {
      const calls = live.get(path)?.calls
      calls?.add(call)
      return () => calls?.delete(call)
    },
    async openWriter(path, options) {
      const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0)
      const file = await open(path, flags, 0o600)
      const size = await startSize(file, options.records)
      const log = live.get(path) ?? { writers: 0, version: 0, calls: new Set() }
      log.writers++
      live.set(path, log)
      const closed = (): void => {
        log.writers--
        // Removed first: a reader that wakes now reads to the end and stops.
        if (log.writers === 0) live.delete(path)
        for (const call of log.calls) call()
        log.calls.clear()
      }
      return createWriter(file, size, options, { grown: () => changed(path), closed })
    },
  }
}

async function startSize(file: FileHandle, records: boolean): Promise<number> {
  const { size } = await file.stat()
  if (!records || size === 0) return size
  const step = 64 * 1024
  const buffer = Buffer.alloc(step)
  for (let end = size; end > 0; end -= step) {
    const start = Math.max(0, end - step)
    const { bytesRead } = await file.read(buffer, 0, end - start, start)
    const newline = buffer.subarray(0, bytesRead).lastIndexOf(0x0a)
    if (newline === -1 && start > 0) continue
    const whole = start + newline + 1
    if (whole < size) await file.truncate(whole)
    return whole
  }
  return size
}

function createWriter(
  file: FileHandle,
  startingSize: number,
  { maxBytes, tail: tailOptions }: LogFileOptions,
  tell: { readonly grown: () => void; readonly closed: () => void },
): LogFileWriter {
  let queue: Uint8Array[] = []
  let queued = 0
  let size = startingSize
  let leftOut = 0
  const tail = tailOptions && createByteTail(tailOptions.bytes)
  let failure: Error | undefined
  let draining: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = joined(queue)
      queue = []
      try {
        await file.appendFile(batch)
      } catch (error) {
        failure ??= error as Error
      }
      queued -= batch.length
      tell.grown()
    }
    draining = undefined
  }
  const enqueue = (bytes: Uint8Array): void => {
    queue.push(bytes)
    queued += bytes.length
    size += bytes.length
    draining ??= drain()
  }
  const room = async (): Promise<void> => {
    while (draining && queued > highWater) await draining
    if (failure !== undefined) throw failure
  }
  const written = async (): Promise<void> => {
    await draining
    if (failure !== undefined) throw failure
  }
  const finish = async (): Promise<void> => {
    const last = tail && wholeLines(tail)
    const missing = leftOut - (last?.length ?? 0)
    if (missing > 0) enqueue(Buffer.from(`\n[${missing} bytes of output were left out here]\n`))
    if (last && last.length > 0) enqueue(tailOptions.show(last))
    await draining
    await file.close()
    tell.closed()
    if (failure !== undefined) throw failure
  }
  return {
    get size() {
      return size
    },
    get isFull() {
      return leftOut > 0
    },
    append: async (bytes) => {
      if (closing) return
      const kept = headOf(bytes, maxBytes - size)
      // After a gap nothing else is written: the note marks the gap.
      if (leftOut === 0 && kept.length > 0) enqueue(kept)
      const rest = leftOut === 0 ? bytes.subarray(kept.length) : bytes
      leftOut += rest.length
      tail?.push(rest)
      await room()
    },
    room,
    written,
    close: () => (closing ??= finish()),
  }
}

/** The end of an output that was cut, from the start of a line: of another one a part of a secret might be left. */
function wholeLines(tail: ByteTail): Uint8Array {
  const last = tail.bytes()
  if (tail.size <= last.length) return last
  const start = last.findIndex((byte) => byte === 0x0a || byte === 0x0d)
  return start === -1 ? new Uint8Array(0) : last.subarray(start + 1)
}

/** Returns the longest start that fits and does not end inside a character. */
function headOf(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length <= max) return bytes
  let end = Math.max(0, max)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
