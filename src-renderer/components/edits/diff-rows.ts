import type { CodeToken } from './code-tokens.ts'
import type { DiffLine } from './line-diff.ts'

/**
 * A line of an edit with its number: in the old file for removed lines, in the new one for all
 * others.
 */
export interface DiffRow extends DiffLine {
  readonly number: number | null
}

/**
 * Numbers the lines of one change. `first` is the number of the first touched line in both files;
 * null if the agent didn't report it.
 */
export function numberedRows(lines: readonly DiffLine[], first: number | null): DiffRow[] {
  if (first === null) return lines.map((line) => ({ ...line, number: null }))
  const touched = lines.findIndex(({ sign }) => sign !== ' ')
  let before = first - Math.max(0, touched)
  let after = before
  return lines.map((line) => {
    const number = line.sign === '-' ? before : after
    if (line.sign !== '+') before += 1
    if (line.sign !== '-') after += 1
    return { ...line, number }
  })
}

/** Returns one side of the change as text, because the highlighter needs it in one piece. */
export function sideOf(lines: readonly DiffLine[], side: 'before' | 'after'): string {
  const otherSign = side === 'before' ? '+' : '-'
  return lines.flatMap(({ sign, text }) => (sign === otherSign ? [] : [text])).join('\n')
}

/** Returns the highlighted lines from both sides; plain text without highlighting. */
export function highlightLines(
  lines: readonly DiffLine[],
  before: readonly (readonly CodeToken[])[] | null,
  after: readonly (readonly CodeToken[])[] | null,
): readonly (readonly CodeToken[])[] {
  let [old, next] = [0, 0]
  return lines.map(({ sign, text }) => {
    const tokens = sign === '-' ? before?.[old] : after?.[next]
    if (sign !== '+') old += 1
    if (sign !== '-') next += 1
    return tokens ?? [{ text, colour: null }]
  })
}
