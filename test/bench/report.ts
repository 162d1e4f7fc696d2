import { format, type BrokenRow, type RowResult, type Spread } from './measure.ts'

/** The results as lines of a table for people. */
export function tableOf(results: readonly (RowResult | BrokenRow)[]): string {
  const head = ['row', 'unit', 'product', 'floor', 'ratio', 'goal', '']
  const measured = results.filter((row): row is RowResult => !('error' in row))
  const broken = results.filter((row): row is BrokenRow => 'error' in row)
  const lines = measured.map((row) => [
    row.name,
    row.unit,
    withSpread(row.spread.product),
    withSpread(row.spread.floor),
    withSpread(row.spread.ratio),
    `${row.better === 'higher' ? '≥' : '≤'} ${row.goal}`,
    row.passed ? 'passed' : 'MISSED',
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((cells) => cells[column]?.length ?? 0)))
  const table = [head, ...lines].map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [...table, ...broken.map(({ name, error }) => `${name} BROKE: ${error}`)].join('\n')
}

const withSpread = ({ median, min, max }: Spread) => `${format(median)} (${format(min)}–${format(max)})`
