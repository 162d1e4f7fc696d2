import type { FileDiffMetadata } from '@pierre/diffs'

/** A line that is longer than this is cut: no reader reads it, and to wrap it takes a browser minutes. */
export const LONGEST_LINE = 10_000

/** One line of a file's diff, as it is walked over: on one side, at its number there. */
export interface DiffLine {
  readonly side: 'old' | 'new'
  readonly line: number
  readonly kind: 'context' | 'removed' | 'added'
}

type Hunks = Pick<FileDiffMetadata, 'hunks'>

/** The shown lines of a file from top to bottom; of a change first what is removed. */
export function* linesIn({ hunks }: Hunks): Generator<DiffLine> {
  for (const hunk of hunks) {
    let [before, after] = [hunk.deletionStart, hunk.additionStart]
    for (const part of hunk.hunkContent) {
      if (part.type === 'context') {
        for (let n = 0; n < part.lines; n++) yield { side: 'new', line: after + n, kind: 'context' }
        before += part.lines
        after += part.lines
      } else {
        for (let n = 0; n < part.deletions; n++) yield { side: 'old', line: before++, kind: 'removed' }
        for (let n = 0; n < part.additions; n++) yield { side: 'new', line: after++, kind: 'added' }
      }
    }
  }
}

/** Whether the diff shows a line of a file. */
export function showsLine({ hunks }: Hunks, side: 'old' | 'new', line: number): boolean {
  return hunks.some((hunk) => {
    const start = side === 'new' ? hunk.additionStart : hunk.deletionStart
    const count = side === 'new' ? hunk.additionCount : hunk.deletionCount
    return line >= start && line < start + count
  })
}

/** The line `by` steps from another one, within the file; null where the file has no more. */
export function lineBeside(file: Hunks, from: Pick<DiffLine, 'side' | 'line'> | null, by: 1 | -1): DiffLine | null {
  let before: DiffLine | null = null
  let found = false
  for (const line of linesIn(file)) {
    if (found || (from === null && by === 1)) return line
    if (from !== null && line.line === from.line && isSame(line, from)) {
      if (by === -1) return before
      found = true
    }
    before = line
  }
  return from === null ? before : null
}

/** A context line has a number on either side, but is walked over once. */
function isSame(line: DiffLine, from: Pick<DiffLine, 'side'>): boolean {
  return line.side === from.side
}

/** Where a shown line is in the file as it is now; for one that was removed, the line that came to its place. */
export function lineNow({ hunks }: Hunks, side: 'old' | 'new', line: number): number {
  if (side === 'new') return line
  for (const hunk of hunks) {
    let [before, after] = [hunk.deletionStart, hunk.additionStart]
    for (const part of hunk.hunkContent) {
      const isContext = part.type === 'context'
      const deletions = isContext ? part.lines : part.deletions
      const additions = isContext ? part.lines : part.additions
      if (line >= before && line < before + deletions)
        return Math.max(1, after + Math.min(line - before, Math.max(0, additions - 1)))
      before += deletions
      after += additions
    }
  }
  return line
}

/** The text of lines on one side; null where the diff does not show all of them, or cuts one. */
export function textIn(
  { hunks, additionLines, deletionLines }: Pick<FileDiffMetadata, 'hunks' | 'additionLines' | 'deletionLines'>,
  {
    side,
    line,
    start_line = line,
  }: { readonly side: 'old' | 'new'; readonly line: number; readonly start_line?: number | undefined },
): readonly string[] | null {
  for (const hunk of hunks) {
    const [start, count, first, lines] =
      side === 'new'
        ? [hunk.additionStart, hunk.additionCount, hunk.additionLineIndex, additionLines]
        : [hunk.deletionStart, hunk.deletionCount, hunk.deletionLineIndex, deletionLines]
    if (start_line < start || line >= start + count) continue
    const text = lines
      .slice(first + start_line - start, first + line - start + 1)
      .map((one) => one.replace(/\r?\n$/, ''))
    return text.some(({ length }) => length > LONGEST_LINE) ? null : text
  }
  return null
}
