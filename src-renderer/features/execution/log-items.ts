import { questionsOf, questionText } from './structured-questions.ts'
import { LINES_A_ROW, linesOf, type OutputStream, type ToolCall, type TranscriptRow } from './transcript-rows.ts'

/**
 * An item of the log. Items are small, whatever an agent prints, so that only visible ones are
 * rendered.
 */
export type LogItem =
  | { readonly kind: 'row'; readonly key: string; readonly row: TranscriptRow; readonly index: number }
  | {
      /** A part of an expanded row. */
      readonly kind: 'lines'
      readonly key: string
      readonly lines: readonly string[]
      readonly stream: OutputStream
      /** The heading of the first part. */
      readonly heading: string | null
    }
  | { readonly kind: 'fold'; readonly key: string; readonly hidden: number }

/** The expanded parts of the log. */
export interface OpenParts {
  isOpen(row: TranscriptRow, index: number): boolean
  /** Returns whether long output is shown in full, by the key of its fold. */
  isUnfolded(key: string): boolean
  /** Whether more rows may come, so the last block of output isn't folded. */
  readonly live: boolean
}

/** Lines from which a block of output is folded once it is complete. */
const BLOCK_FROM = 400
const ROWS_BEFORE = 1
const ROWS_AFTER = 3
/** Lines from which the content of an expanded row is folded. */
const DETAIL_FROM = 60
const DETAIL_LINES = 20

/** Returns the key of the fold in a block of output. */
export const blockFold = (block: number): string => `b${block}`

/**
 * Returns the rows as one list: the content of an expanded row follows it, and the middle of long
 * output is folded.
 */
export function logItems(rows: readonly TranscriptRow[], open: OpenParts): readonly LogItem[] {
  const items: LogItem[] = []
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]
    if (!row) continue
    if (row.kind === 'output' && row.key === row.block) {
      index = addBlock(items, rows, index, open)
      continue
    }
    items.push({ kind: 'row', key: `r${row.key}`, row, index })
    if (open.isOpen(row, index)) for (const detail of detailsOf(row)) addDetail(items, detail, open)
  }
  return items
}

/** Adds a block of output and returns the index of its last row. */
function addBlock(items: LogItem[], rows: readonly TranscriptRow[], first: number, open: OpenParts): number {
  const block = rows[first]?.key ?? 0
  let end = first + 1
  for (let row = rows[end]; row?.kind === 'output' && row.block === block; row = rows[end]) end++
  const add = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const row = rows[index]
      if (row) items.push({ kind: 'row', key: `r${row.key}`, row, index })
    }
  }
  const key = blockFold(block)
  const isGrowing = open.live && end === rows.length
  const hidden = linesIn(rows.slice(first + ROWS_BEFORE, end - ROWS_AFTER))
  if (isGrowing || linesIn(rows.slice(first, end)) < BLOCK_FROM || open.isUnfolded(key)) add(first, end)
  else {
    add(first, first + ROWS_BEFORE)
    items.push({ kind: 'fold', key, hidden })
    add(end - ROWS_AFTER, end)
  }
  return end - 1
}

const linesIn = (rows: readonly TranscriptRow[]): number =>
  rows.reduce((sum, row) => sum + (row.kind === 'output' ? row.lines.length : 0), 0)

interface Detail {
  readonly key: string
  readonly heading: string | null
  readonly text: string
  readonly stream: OutputStream
}

/** Returns the content of an expanded row, except the diff, which the row renders. */
function detailsOf(row: TranscriptRow): readonly Detail[] {
  if (row.kind === 'start' || row.kind === 'conflict')
    return [{ key: `d${row.key}`, heading: null, text: row.text, stream: 'stdout' }]
  if (row.kind !== 'tool') return []
  return row.calls.flatMap(({ call, result }, n) => {
    const key = `d${row.key}.${n}`
    const details: Detail[] = []
    if (call.action === 'mcp' || call.action === 'other') details.push({ key: `${key}i`, ...inputOf(call) })
    const heading = row.calls.length > 1 ? (call.target ?? '') : details.length > 0 ? 'Output' : null
    if (result !== null && result.text.trim() !== '' && (call.diff === null || !result.ok))
      details.push({ key, heading, text: result.text, stream: result.ok ? 'stdout' : 'stderr' })
    else if (row.calls.length > 1) details.push({ key, heading, text: '', stream: 'stdout' })
    return details
  })
}

function inputOf({ input }: ToolCall): Omit<Detail, 'key'> {
  const questions = questionsOf(input)
  return questions.length > 0
    ? { heading: null, text: questionText(questions), stream: 'stdout' }
    : { heading: 'Input', text: JSON.stringify(input, null, 2), stream: 'stdout' }
}

function addDetail(items: LogItem[], { key, heading, text, stream }: Detail, open: OpenParts): void {
  const lines = linesOf(text.replace(/\s+$/, ''))
  const add = (from: number, to: number) => {
    for (let at = from; at < to; at += LINES_A_ROW) {
      const part = lines.slice(at, Math.min(to, at + LINES_A_ROW))
      items.push({ kind: 'lines', key: `${key}:${at}`, lines: part, stream, heading: at === 0 ? heading : null })
    }
  }
  if (lines.length === 0) items.push({ kind: 'lines', key: `${key}:0`, lines: [], stream, heading })
  else if (lines.length < DETAIL_FROM || open.isUnfolded(key)) add(0, lines.length)
  else {
    add(0, DETAIL_LINES)
    items.push({ kind: 'fold', key, hidden: lines.length - 2 * DETAIL_LINES })
    add(lines.length - DETAIL_LINES, lines.length)
  }
}
