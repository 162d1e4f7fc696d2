import { isErrorLine } from '../../components/error-line.ts'
import { parseTerminalText } from '../../components/terminal-text.ts'
import type { TranscriptRow } from './transcript-rows.ts'

/** A line of the log: the index of its row, and of the line within a row of output. */
interface LogPlace {
  readonly row: number
  readonly line: number
}

/** How many rows before the end are searched. */
const maxRows = 200

/** Returns the last place that tells of an error: a line of output or a call that failed; null without one. */
export function failedLine(rows: readonly TranscriptRow[]): LogPlace | null {
  for (let index = rows.length - 1; index >= Math.max(0, rows.length - maxRows); index--) {
    const row = rows[index]
    if (row?.kind === 'tool' && row.calls.some(({ result }) => result?.ok === false)) return { row: index, line: 0 }
    if (row?.kind !== 'output') continue
    const line = parseTerminalText(row.lines.join('\n')).findLastIndex(isErrorLine)
    if (line >= 0) return { row: index, line }
  }
  return null
}
