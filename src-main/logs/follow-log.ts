import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import type { TranscriptItem } from '../../src-shared/contract/events.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { LiveLogs } from './log-file.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

/**
 * Yields the entries of a transcript from line `from` on as they are written, then `end`. Always reads from the file,
 * so a slow follower uses no memory; returns when aborted.
 */
export async function* followLog(
  live: LiveLogs,
  path: string,
  from: number,
  { signal }: Cancellable,
): AsyncIterable<TranscriptItem> {
  const file = await openIfThere(path)
  try {
    const lines = file && createLineReader(file)
    let index = 0
    while (!signal.aborted) {
      // Read before the file, so that changes in between are not missed.
      const version = live.version(path)
      const wasLive = live.isLive(path)
      for (let batch = await lines?.next(); batch && batch.length > 0; batch = await lines?.next()) {
        for (const line of batch) {
          const entry = index >= from ? parseEntry(line) : null
          if (entry) yield { kind: 'entry', index, entry }
          index++
          if (signal.aborted) return
        }
      }
      if (!wasLive) {
        yield { kind: 'end' }
        return
      }
      if (live.version(path) === version) await nextChange(live, path, signal)
    }
  } finally {
    await file?.close()
  }
}

/** Opens a log for reading, or returns null if there is none. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Resolves when a live log grows or closes, or the signal aborts. */
export async function nextChange(live: LiveLogs, path: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const wake = (): void => resolve(undefined)
  const forget = live.onChange(path, wake)
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted || !live.isLive(path)) wake()
  await promise
  forget()
  signal.removeEventListener('abort', wake)
}

/** Skips a damaged line (power loss), which keeps its number. */
function parseEntry(line: Buffer): TranscriptEntry | null {
  return TranscriptEntry.safeParse(parseJson(line.toString('utf8'))).data ?? null
}

/** `next` resolves with the next whole lines of the file, none at its current end. */
function createLineReader(file: FileHandle): { next(): Promise<readonly Buffer[]> } {
  let position = 0
  let carry: Buffer[] = []
  return {
    async next() {
      for (;;) {
        const buffer = Buffer.alloc(256 * 1024)
        const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
        if (bytesRead === 0) return []
        position += bytesRead
        const piece = buffer.subarray(0, bytesRead)
        const end = piece.lastIndexOf(newline) + 1
        if (end === 0) {
          carry.push(piece)
          continue
        }
        const whole = Buffer.concat([...carry, piece.subarray(0, end)])
        carry = end < piece.length ? [piece.subarray(end)] : []
        return splitLines(whole)
      }
    },
  }
}

const newline = 0x0a

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(newline, start)
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}
