import type { FileDiffMetadata } from '@pierre/diffs'

/** The length in characters at which a line is cut: wrapping longer ones takes a browser minutes. */
export const LONGEST_LINE = 10_000

/** One line of a file's diff, for navigation: its side, and its number there. */
export interface DiffLine {
  readonly side: 'old' | 'new'
  readonly line: number
  readonly kind: 'context' | 'removed' | 'added'
}

type Hunks = Pick<FileDiffMetadata, 'hunks'>

/** Yields the shown lines of a file from top to bottom; in each change the removed ones first. */
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

/** Returns whether the diff shows a line of a file. */
export function showsLine({ hunks }: Hunks, side: 'old' | 'new', line: number): boolean {
  return hunks.some((hunk) => {
    const start = side === 'new' ? hunk.additionStart : hunk.deletionStart
    const count = side === 'new' ? hunk.additionCount : hunk.deletionCount
    return line >= start && line < start + count
  })
}

/** Returns the line after or before another one in the file; null if there is none. */
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

/** Returns whether the sides are equal. A context line has a number on both sides, but counts once, as new. */
function isSame(line: DiffLine, from: Pick<DiffLine, 'side'>): boolean {
  return line.side === from.side
}

/** Returns a shown line's number in the current file; for a removed line, that of the line in its position. */
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

/** Returns the number that an unchanged line of the old file has in the new one; null if it was changed or removed. */
export function lineAfter({ hunks }: Hunks, line: number): number | null {
  let moved = 0
  for (const hunk of hunks) {
    let [before, after] = [hunk.deletionStart, hunk.additionStart]
    // Of no lines, git names the line before them.
    if (hunk.deletionCount === 0) before++
    if (hunk.additionCount === 0) after++
    if (line < before) break
    for (const part of hunk.hunkContent) {
      const isContext = part.type === 'context'
      const deletions = isContext ? part.lines : part.deletions
      if (line < before + deletions) return isContext ? line + after - before : null
      before += deletions
      after += isContext ? part.lines : part.additions
    }
    moved = after - before
  }
  return line + moved
}

/** Returns the text of lines on one side; null if the diff omits or cuts one of them. */
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
