import type { Ask } from '../../../src-shared/contract/executions.ts'
import type { PairedCall, TranscriptRow } from './transcript-rows.ts'

/**
 * Returns the rows without those of open requests: the box below the transcript is the row of the
 * first, and the others follow there. They appear once they are answered.
 */
export function withoutAsked(rows: readonly TranscriptRow[], asks: readonly Ask[]): readonly TranscriptRow[] {
  if (asks.length === 0) return rows
  const left = [...asks]
  const hidden = new Set<number>()
  for (const row of rows.toReversed()) {
    const index = left.findIndex((ask) => isRowOf(row, ask))
    if (index < 0) continue
    hidden.add(row.key)
    left.splice(index, 1)
    if (left.length === 0) break
  }
  return rows.filter(({ key }) => !hidden.has(key))
}

function isRowOf(row: TranscriptRow, ask: Ask): boolean {
  if (row.kind === 'question') return row.askId === ask.id
  if (row.kind !== 'tool' || ask.kind !== 'permission') return false
  return row.calls.every((pair) => isCallOf(pair, ask))
}

const isCallOf = ({ call, result }: PairedCall, { tool, target }: Ask): boolean =>
  result === null && call.tool === tool && call.target === target
