import type { Readable } from 'node:stream'
import { createLineBuffer } from '../../../platform/text/line-buffer.ts'
import type { AgentLog } from '../../../ports/logs.ts'
import type { OutputEntries } from '../output-entries.ts'
import type { createSvcFilter } from '../svc-lines.ts'

/** Shows an incomplete last line after this time without output: a prompt has no line end. */
const restMs = 25

/** Writes a terminal's output to the log, only as fast as the log accepts it, and whole lines to the transcript. */
export async function readTerminal(
  output: Readable,
  entries: OutputEntries,
  log: AgentLog,
  filter: ReturnType<typeof createSvcFilter>,
): Promise<void> {
  const lines = createLineBuffer()
  let failure: Error | undefined
  // After an error of the log the output is still read: an unread terminal would block its program.
  const keep = async (write: Promise<void> | undefined): Promise<void> => {
    await write?.catch((error: Error) => (failure ??= error))
  }
  let resting: NodeJS.Timeout | undefined
  for await (const printed of output as AsyncIterable<Buffer>) {
    const chunk = filter.push(printed)
    clearTimeout(resting)
    entries.push(lines.push(chunk))
    await keep(log.raw(chunk))
    resting = setTimeout(() => void keep(log.show?.()), restMs)
  }
  clearTimeout(resting)
  const last = filter.flush()
  entries.push(lines.push(last))
  await keep(log.raw(last))
  entries.push(lines.flush())
  entries.flush()
  if (failure !== undefined) throw failure
}
