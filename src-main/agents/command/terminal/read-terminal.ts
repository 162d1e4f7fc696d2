import type { Readable } from 'node:stream'
import { createLineBuffer } from '../../../platform/text/line-buffer.ts'
import type { AgentLog } from '../../../ports/logs.ts'
import type { OutputEntries } from '../output-entries.ts'
import type { createSvcFilter } from '../svc-lines.ts'

/** After so long without more, what stands in the last line is shown: a prompt has no line end. */
const restMs = 25

/** Reads what a terminal prints into the log, only as fast as the log takes it; whole lines into the transcript. */
export async function readTerminal(
  output: Readable,
  entries: OutputEntries,
  log: AgentLog,
  filter: ReturnType<typeof createSvcFilter>,
): Promise<void> {
  const lines = createLineBuffer()
  let failure: Error | undefined
  // With a broken log the output is still read: a terminal that nobody empties holds its program up.
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
