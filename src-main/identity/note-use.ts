import { isWriteFailure } from '../platform/process/write-failure.ts'
import type { Clock } from '../ports/clock.ts'

/** `last_used_at` is exact to the minute, which saves a write for every request. */
const everyMs = 60_000

/** Saves the time of use of a session or token, unless `last_used_at` is less than a minute old. */
export type NoteUse = (last_used_at: string | null, write: (now: string) => void) => void

/** Creates a `NoteUse`. A failed write of the time must not fail the request: after one, none is tried for a minute. */
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
