import type { Ending } from './job-folder.ts'

const noRoom = /ENOSPC|No space left on device/i

/** How a job ends that could not be done, with why; null: there is no reason to tell. */
export function failed(error: unknown): Ending {
  const text = error === null ? null : error instanceof Error ? error.message : String(error)
  const message =
    text !== null && noRoom.test(text) ? 'The disk of the runner is full. Make room there, then retry.' : text
  return { status: 'failed', exit_code: null, session_id: null, usage: null, outcome: null, message }
}
