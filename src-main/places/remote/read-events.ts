import { JobEvent } from '../../../src-shared/contract/job-events.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { createLineBuffer } from '../../platform/text/line-buffer.ts'

/** A transcript's longest entry, with room. */
const maxLine = 32 * 1024 * 1024
const newline = 0x0a

/** Reads the events of a job from the bytes of its log; lines that are none are left out. */
export interface EventReader {
  push(bytes: Uint8Array): void
  /** How many bytes of the last line have come. */
  heldBytes(): number
}

export function createEventReader(take: (event: JobEvent) => void): EventReader {
  const lines = createLineBuffer(maxLine)
  let held = 0
  return {
    push: (bytes) => {
      const end = bytes.lastIndexOf(newline) + 1
      held = end === 0 ? held + bytes.length : bytes.length - end
      for (const line of Buffer.from(lines.push(bytes)).toString('utf8').split('\n')) {
        const event = line === '' ? null : JobEvent.safeParse(parseJson(line))
        if (event?.success === true) take(event.data)
      }
    },
    heldBytes: () => held,
  }
}
