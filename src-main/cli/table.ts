import { paint, plain } from './output.ts'

/** Formats columns under dim headings; on a terminal cuts the last column to the width. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => plain(cell).replaceAll(/\s+/g, ' ')))
  const widths = headings.map((heading, at) =>
    Math.max(...[heading, ...cells.map((row) => row[at] ?? '')].map(widthOf)),
  )
  const room = process.stdout.isTTY ? process.stdout.columns : Infinity
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  const lines = [headings, ...cells].map((row) => cut(line(row).trimEnd(), room))
  return lines.map((text, at) => (at === 0 ? paint('dim', text) : text)).join('\n')
}

/** Formats `name  value` lines with dim names of one width. */
export function formatFields(fields: readonly (readonly [string, string | null])[]): string {
  const shown = fields.flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${plain(value)}`).join('\n')
}

const widthOf = (text: string) => [...text].length

function cut(text: string, room: number): string {
  const letters = [...text]
  return letters.length > room ? `${letters.slice(0, Math.max(0, room - 1)).join('')}…` : text
}
