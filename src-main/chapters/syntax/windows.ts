import type { Range } from 'web-tree-sitter'
import type { SyntaxHunk } from '../rules/syntax.ts'

/** A line at which something begins that nothing is around: no closing bracket, comment or condition of a preprocessor. */
const topLevel = /^[\p{L}_@<]/u
/** Beyond this part of a text its whole is parsed, which says more. */
const maxPart = 0.7

/**
 * Returns the parts of a text that have all that is around the added lines: from the line at the left edge before them to
 * the next one after them. Returns null if that is most of the text. A part can be cut wrongly, such as within a text of
 * several lines, so that it may say what a file defines and uses, but proves nothing.
 */
export function windowsOf(text: string, hunks: readonly Pick<SyntaxHunk, 'new'>[]): Range[] | null {
  const lines = text.split('\n')
  const windows: { from: number; to: number }[] = []
  for (const {
    new: [start, count],
  } of hunks) {
    const last = windows.at(-1)
    const end = start - 1 + count
    if (count === 0 || (last && end <= last.to)) continue
    let from = start - 1
    // No line is looked at twice, however many hunks there are.
    while (from > (last?.to ?? 0) && !topLevel.test(lines[from] ?? '')) from -= 1
    let to = end
    while (to < lines.length && !topLevel.test(lines[to] ?? '')) to += 1
    if (last && from <= last.to) last.to = to
    else windows.push({ from, to })
  }
  const starts = [0]
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1)
  const ranges = windows.map(({ from, to }): Range => ({
    startPosition: { row: from, column: 0 },
    endPosition: { row: to, column: 0 },
    startIndex: starts[from] ?? 0,
    endIndex: Math.min(text.length, starts[to] ?? text.length),
  }))
  const size = ranges.reduce((sum, { startIndex, endIndex }) => sum + endIndex - startIndex, 0)
  return size > text.length * maxPart ? null : ranges
}
