import { isWriteFailure } from '../platform/process/write-failure.ts'
import type { Clock } from '../ports/clock.ts'

/** `last_used_at` is right to the minute; a write for every request would buy nothing. */
const everyMs = 60_000

/** Writes the time of use of a session or token, unless `last_used_at` is less than a minute old. */
export type NoteUse = (last_used_at: string | null, write: (now: string) => void) => void

/**
 * Creates the note of use. A request must not fail because the time of its token can't be written: after a write that
 * the database or its disk refused, none is tried for a minute.
 */
export function createNoteUse(clock: Clock): NoteUse {
  let pausedUntil = 0
  return (last_used_at, write) => {
    const now = clock.now()
    const isRecent = last_used_at !== null && Date.parse(last_used_at) + everyMs > now
    if (isRecent || now < pausedUntil) return
    try {
      write(new Date(now).toISOString())
    } catch (error) {
      if (!isWriteFailure(error)) throw error
      pausedUntil = now + everyMs
    }
  }
}
