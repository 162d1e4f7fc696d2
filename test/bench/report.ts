import { format, type BrokenRow, type Interval, type RowResult, type Spread } from './measure.ts'

/** What a table tells of a row besides its result. */
export interface RowNotes {
  readonly seconds: number
  /** The ratio of the last whole run on this machine; null if there was none. */
  readonly before: number | null
}

const verdicts = { met: 'met', missed: 'MISSED', unclear: 'unclear' } as const

/** Formats the results as a table in Markdown. `unclear` rows have their goal within the interval. */
export function tableOf(
  results: readonly (RowResult | BrokenRow)[],
  notesOf: (name: string) => RowNotes = () => ({ seconds: 0, before: null }),
): string {
  const head = ['row', 'unit', 'product', 'floor', 'ratio', 'goal', 'verdict', 'before', 's']
  const measured = results.filter((row): row is RowResult => !('error' in row))
  const broken = results.filter((row): row is BrokenRow => 'error' in row)
  const lines = measured.map((row) => {
    const { seconds, before } = notesOf(row.name)
    return [
      row.name,
      row.unit,
      withSpread(row.spread.product),
      withSpread(row.spread.floor),
      withInterval(row.ratio, row.interval),
      `${row.better === 'higher' ? '≥' : '≤'} ${row.goal}`,
      verdicts[row.verdict],
      before === null ? '' : format(before),
      seconds.toFixed(0),
    ]
  })
  const widths = head.map((_, column) => Math.max(3, ...[head, ...lines].map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const table = [line(head), line(widths.map((width) => '-'.repeat(width))), ...lines.map(line)]
  return [...table, ...broken.map(({ name, error }) => `${name} BROKE: ${error}`)].join('\n')
}

const withSpread = ({ median, min, max }: Spread) => `${format(median)} (${format(min)}–${format(max)})`
const withInterval = (ratio: number, { low, high }: Interval) =>
  low === high ? format(ratio) : `${format(ratio)} (${format(low)}–${format(high)})`
