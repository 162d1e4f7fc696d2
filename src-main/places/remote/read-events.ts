import { JobEvent } from '../../../src-shared/contract/job-events.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { createLineBuffer } from '../../platform/text/line-buffer.ts'

/** A transcript's longest entry, with room. */
const maxLine = 32 * 1024 * 1024

/** Reads the events of a job from the bytes of its log; lines that are none are left out. */
export function createEventReader(take: (event: JobEvent) => void): (bytes: Uint8Array) => void {
  const lines = createLineBuffer(maxLine)
  return (bytes) => {
    for (const line of Buffer.from(lines.push(bytes)).toString('utf8').split('\n')) {
      const event = line === '' ? null : JobEvent.safeParse(parseJson(line))
      if (event?.success === true) take(event.data)
    }
  }
}
