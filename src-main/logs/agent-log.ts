import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { createStreamRedactor } from '../platform/text/redact-stream.ts'
import type { AgentLog, EntryListener } from '../ports/logs.ts'
import { fitEntry } from './fit-entry.ts'
import type { LogFileWriter } from './log-file.ts'
import { afterwards } from '../../src-shared/lang/afterwards.ts'

/** Size of a transcript after which only the raw log is written. */
const maxTranscriptBytes = 64 * 1024 * 1024

/** Creates the log of one execution with its two files. Entries and bytes after `close` are dropped. */
export function createAgentLog(options: {
  readonly transcript: LogFileWriter
  readonly raw: LogFileWriter
  readonly redact: (text: string) => string
  readonly onEntry?: EntryListener | undefined
}): AgentLog {
  const { transcript, raw, redact, onEntry } = options
  const stream = createStreamRedactor(redact)
  let full = false
  let closing: Promise<void> | undefined
  let failure: Error | undefined

  const add = (entry: TranscriptEntry): void => {
    // `entry` can't wait, so `raw` waits for both files; a failed write rejects there and in `close`.
    transcript.append(Buffer.from(`${JSON.stringify(entry)}\n`)).catch((error: Error) => (failure ??= error))
  }
  const appendRaw = async (bytes: Uint8Array): Promise<void> => {
    if (!raw.isFull) return await raw.append(stream.push(bytes))
    // Redacted at the end, since nearly all of it is left out.
    await Promise.all([raw.append(stream.takeHeld()), raw.append(bytes)])
  }
  const finish = async (): Promise<void> => {
    const results = await Promise.allSettled([
      afterwards(raw.append(raw.isFull ? stream.takeHeld() : stream.flush()), () => raw.close()),
      transcript.close(),
    ])
    for (const result of results) if (result.status === 'rejected') failure ??= result.reason as Error
    if (failure !== undefined) throw failure
  }
  return {
    entry(entry) {
      if (closing) return
      let fitted: TranscriptEntry | undefined
      const shown = () => (fitted ??= fitEntry(entry, redact))
      if (!full && transcript.size >= maxTranscriptBytes) {
        full = true
        add({ type: 'error', at: entry.at, text: 'The transcript reached its size limit. The raw log continues.' })
      }
      if (!full) add(shown())
      onEntry?.(entry, shown)
    },
    async raw(bytes) {
      if (closing) return
      await Promise.all([appendRaw(bytes), transcript.room()])
    },
    async show() {
      if (!closing && !raw.isFull) await raw.append(stream.flush())
    },
    async saved() {
      const sizes = { transcript: transcript.size, raw: raw.size, held: stream.heldBytes() }
      await Promise.all([transcript.written(), raw.written()])
      return sizes
    },
    close: () => (closing ??= finish()),
  }
}
