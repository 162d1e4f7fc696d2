import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { createLineSplitter } from './split-lines.ts'
import type { SplitLine } from './split-lines.ts'

const maxLine = 16 * 1024
const maxEntries = 1_000
const tailChars = 4_000

export interface StderrReader {
  push(bytes: Uint8Array): void
  end(): void
  /** Returns the end of stderr, at most 4,000 characters. */
  tail(): string
}

/** Converts stderr into entries. A flood is limited in memory and transcript; the raw log has the rest. */
export function createStderrReader(onEntry: (entry: TranscriptEntry) => void, now: () => string): StderrReader {
  const lines = createLineSplitter(maxLine)
  let told = 0
  let tail = ''
  const read = ({ text }: SplitLine): void => {
    tail = `${tail}\n${text}`.slice(-tailChars)
    told += 1
    if (told <= maxEntries) onEntry({ type: 'stderr', at: now(), text })
    else if (told === maxEntries + 1) onEntry({ type: 'stderr', at: now(), text: '… more is in the raw log' })
  }
  return {
    push: (bytes) => lines.push(bytes).forEach(read),
    end: () => lines.end().forEach(read),
    tail: () => tail.trim(),
  }
}
