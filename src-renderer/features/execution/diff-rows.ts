import type { CodeToken } from './code-tokens.ts'
import type { DiffLine } from './line-diff.ts'

/** A line of an edit with its number: of what is removed that before, of all else that after. */
export interface DiffRow extends DiffLine {
  readonly number: number | null
}

/**
 * Numbers the lines of one change. `first` is the number of the first line that it touches, the same before and after;
 * null where nobody has told it.
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

/** The text of the fragment before or after the change: what is coloured has to be in one piece. */
export function sideOf(lines: readonly DiffLine[], side: 'before' | 'after'): string {
  const left = side === 'before' ? '+' : '-'
  return lines.flatMap(({ sign, text }) => (sign === left ? [] : [text])).join('\n')
}

/** The coloured text of each line, from the two sides; where there is none, the plain one. */
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
