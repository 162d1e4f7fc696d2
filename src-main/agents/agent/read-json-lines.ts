import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { createLineSplitter, maxLineBytes } from './split-lines.ts'
import type { SplitLine } from './split-lines.ts'

export interface JsonLinesListener {
  /** Takes a parsed line; returns false if it is not part of the protocol. */
  readonly onJson: (json: unknown) => boolean
  readonly onEntry: (entry: TranscriptEntry) => void
  readonly now: () => string
}

export interface JsonLinesReader {
  push(bytes: Uint8Array): void
  end(): void
}

/** Reads JSON lines of up to 32 MB. Other output becomes `stdout` entries, so that it stays visible. */
export function readJsonLines(listener: JsonLinesListener, maxBytes: number = maxLineBytes): JsonLinesReader {
  const lines = createLineSplitter(maxBytes)
  const read = ({ text, omittedBytes }: SplitLine): void => {
    if (omittedBytes === 0 && listener.onJson(parseJson(text))) return
    const rest = omittedBytes > 0 ? ` … ${omittedBytes} more bytes of this line were left out` : ''
    listener.onEntry({ type: 'stdout', at: listener.now(), text: text + rest })
  }
  return {
    push: (bytes) => lines.push(bytes).forEach(read),
    end: () => lines.end().forEach(read),
  }
}
