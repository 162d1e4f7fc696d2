/** First line (from 1) and number of lines on one side, as git gives them: without lines, the line before. */
export type LineSpan = readonly [start: number, lines: number]

/** A run of changed lines in a patch. */
export interface PatchRun {
  readonly old: LineSpan
  readonly new: LineSpan
}

/** git's own number of unchanged lines around a change. */
const contextLines = 3

interface Piece {
  readonly isRun: boolean
  readonly lines: string[]
  oldLines: number
  newLines: number
}

/** Divides a patch into the parts of its files, in their order. */
export function splitFiles(patch: string): readonly string[] {
  const starts: number[] = []
  // A line of content begins with its sign, so no file can contain a heading.
  for (let at = patch.startsWith('diff --git ') ? 0 : next(patch, 0); at >= 0; at = next(patch, at + 1)) starts.push(at)
  return starts.map((start, number) => patch.slice(start, starts[number + 1] ?? patch.length))
}

const next = (patch: string, from: number): number => {
  const at = patch.indexOf('\ndiff --git ', from)
  return at < 0 ? -1 : at + 1
}

/**
 * Leaves the runs of changed lines that aren't kept out of one file's part of a patch, and what is around them. The
 * rest still applies to the same file. Returns null if no run is left.
 */
export function keepRuns(part: string, isKept: (run: PatchRun) => boolean): string | null {
  const lines = part.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const first = lines.findIndex((line) => line.startsWith('@@ '))
  if (first < 0) return null
  const kept: string[] = []
  for (let at = first; at < lines.length;) {
    const heading = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/s.exec(lines[at] ?? '')
    if (!heading) throw new Error('A patch has no heading where one is due.')
    const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1', context = ''] = heading
    const body = bodyOf(lines, at + 1, Number(oldLines) + Number(newLines))
    const start = {
      old: Number(oldLines) === 0 ? Number(oldStart) + 1 : Number(oldStart),
      new: Number(newLines) === 0 ? Number(newStart) + 1 : Number(newStart),
    }
    kept.push(...keepOfSection(piecesOf(body), start, context, isKept))
    at += 1 + body.length
  }
  return kept.length === 0 ? null : `${[...lines.slice(0, first), ...kept].join('\n')}\n`
}

/** Returns the lines of a section. Follows the counts in its heading: `sides` counts an unchanged line twice. */
function bodyOf(lines: readonly string[], from: number, sides: number): readonly string[] {
  let [at, left] = [from, sides]
  for (; at < lines.length && (left > 0 || lines[at]?.startsWith('\\')); at += 1) {
    const sign = lines[at]?.[0]
    if (sign === '+' || sign === '-') left -= 1
    else if (sign !== '\\') left -= 2
  }
  return lines.slice(from, at)
}

function piecesOf(body: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = []
  for (const line of body) {
    const sign = line[0]
    const last = pieces.at(-1)
    // “No newline at end of file” belongs to the line before it.
    if (sign === '\\' && last) {
      last.lines.push(line)
      continue
    }
    const isRun = sign === '+' || sign === '-'
    const piece = last?.isRun === isRun ? last : { isRun, lines: [], oldLines: 0, newLines: 0 }
    if (piece !== last) pieces.push(piece)
    piece.lines.push(line)
    if (sign !== '+') piece.oldLines += 1
    if (sign !== '-') piece.newLines += 1
  }
  return pieces
}

function keepOfSection(
  pieces: readonly Piece[],
  start: { readonly old: number; readonly new: number },
  context: string,
  isKept: (run: PatchRun) => boolean,
): readonly string[] {
  const placed = place(pieces, start)
  const isShown = placed.map(({ piece, run }) => piece.isRun && isKept(run))
  if (placed.every(({ piece }, at) => !piece.isRun || isShown[at])) return write(placed, context)
  const sections: (readonly Placed[])[] = []
  let open: Placed[] = []
  for (const [at, one] of placed.entries()) {
    if (one.piece.isRun) {
      if (isShown[at]) open.push(one)
      else {
        if (open.some(({ piece }) => piece.isRun)) sections.push(open)
        open = []
      }
    } else if (isShown[at - 1] || isShown[at + 1])
      open.push(trim(one, isShown[at - 1] ?? false, isShown[at + 1] ?? false))
  }
  if (open.some(({ piece }) => piece.isRun)) sections.push(open)
  return sections.flatMap((section) => write(section, context))
}

interface Placed {
  readonly piece: Piece
  readonly run: PatchRun
}

function place(pieces: readonly Piece[], start: { readonly old: number; readonly new: number }): readonly Placed[] {
  let { old, new: now } = start
  return pieces.map((piece) => {
    const run: PatchRun = {
      old: [piece.oldLines === 0 ? old - 1 : old, piece.oldLines],
      new: [piece.newLines === 0 ? now - 1 : now, piece.newLines],
    }
    old += piece.oldLines
    now += piece.newLines
    return { piece, run }
  })
}

/** Shortens unchanged lines to those that belong to the kept runs beside them. */
function trim({ piece, run }: Placed, isBefore: boolean, isAfter: boolean): Placed {
  const count = piece.oldLines
  if ((isBefore && isAfter) || count <= contextLines) return { piece, run }
  const lines = isBefore ? piece.lines.slice(0, contextLines) : piece.lines.slice(-contextLines)
  const skipped = isBefore ? 0 : count - contextLines
  return {
    piece: { isRun: false, lines, oldLines: contextLines, newLines: contextLines },
    run: { old: [run.old[0] + skipped, contextLines], new: [run.new[0] + skipped, contextLines] },
  }
}

function write(section: readonly Placed[], context: string): readonly string[] {
  const sum = (of: (piece: Piece) => number): number => section.reduce((total, { piece }) => total + of(piece), 0)
  const [oldLines, newLines] = [sum(({ oldLines: count }) => count), sum(({ newLines: count }) => count)]
  const first = section[0]?.run
  if (!first) return []
  // Of a run without lines on a side, the line before is named; if others follow, theirs.
  const from = ([start, count]: LineSpan, total: number): number => (count === 0 && total > 0 ? start + 1 : start)
  const side = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`)
  const heading = `@@ -${side(from(first.old, oldLines), oldLines)} +${side(from(first.new, newLines), newLines)} @@${context}`
  return [heading, ...section.flatMap(({ piece }) => piece.lines)]
}
