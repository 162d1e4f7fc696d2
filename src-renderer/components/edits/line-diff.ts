/** A line of a diff. `word` is the changed range if the line has a counterpart. */
export interface DiffLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
  readonly word: readonly [start: number, end: number] | null
}
export interface LineDiff {
  readonly lines: readonly DiffLine[]
  readonly additions: number
  readonly deletions: number
}

/** Above this product of changed lines, the whole block is shown as removed and added. */
const MAX_CELLS = 250_000
const CONTEXT = 3

/** Lines of a diff that are rendered at most. */
export const maxDrawnLines = 400

/**
 * Returns the diff of two fragments of an agent's edit with three lines of context. `before` null
 * is a new file. For the size of an edit; whole files use git's patch.
 */
export function diffLines(before: string | null, after: string): LineDiff {
  const next = splitLines(after)
  if (before === null) return summarise(next.map((text) => ({ sign: '+', text, word: null })))
  const old = splitLines(before)
  let head = 0
  while (head < old.length && head < next.length && old[head] === next[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < next.length - head && old.at(-1 - tail) === next.at(-1 - tail)) tail++
  const middle = alignMiddle(old.slice(head, old.length - tail), next.slice(head, next.length - tail))
  const context = (from: number, to: number): DiffLine[] =>
    next.slice(from, to).map((text) => ({ sign: ' ', text, word: null }))
  return summarise([
    ...context(Math.max(0, head - CONTEXT), head),
    ...markWords(middle),
    ...context(next.length - tail, next.length - tail + Math.min(tail, CONTEXT)),
  ])
}

function splitLines(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

function summarise(lines: readonly DiffLine[]): LineDiff {
  return {
    lines,
    additions: lines.filter((line) => line.sign === '+').length,
    deletions: lines.filter((line) => line.sign === '-').length,
  }
}

function alignMiddle(old: readonly string[], next: readonly string[]): DiffLine[] {
  const plain = (sign: DiffLine['sign'], texts: readonly string[]): DiffLine[] =>
    texts.map((text) => ({ sign, text, word: null }))
  if (old.length * next.length > MAX_CELLS) return [...plain('-', old), ...plain('+', next)]
  const lengths = commonLengths(old, next)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < next.length) {
    const left = old[i]
    const right = next[j]
    if (left !== undefined && left === right) {
      lines.push({ sign: ' ', text: left, word: null })
      i++
      j++
    } else if (right === undefined || (left !== undefined && cell(lengths, i + 1, j) >= cell(lengths, i, j + 1))) {
      lines.push({ sign: '-', text: left ?? '', word: null })
      i++
    } else {
      lines.push({ sign: '+', text: right, word: null })
      j++
    }
  }
  return lines
}

function cell(table: readonly Uint32Array[], i: number, j: number): number {
  return table[i]?.[j] ?? 0
}

function commonLengths(old: readonly string[], next: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(next.length + 1))
  for (let i = old.length - 1; i >= 0; i--) {
    const row = table[i]
    if (!row) continue
    for (let j = next.length - 1; j >= 0; j--) {
      row[j] =
        old[i] === next[j] ? cell(table, i + 1, j + 1) + 1 : Math.max(cell(table, i + 1, j), cell(table, i, j + 1))
    }
  }
  return table
}

/**
 * Marks changed words. In a block with as many removed as added lines, the n-th ones are
 * counterparts.
 */
function markWords(lines: readonly DiffLine[]): DiffLine[] {
  const marked = lines.slice()
  for (let at = 0; at < marked.length;) {
    let removed = 0
    while (marked[at + removed]?.sign === '-') removed++
    let added = 0
    while (marked[at + removed + added]?.sign === '+') added++
    if (removed > 0 && removed === added) {
      for (let n = 0; n < removed; n++) markPair(marked, at + n, at + removed + n)
    }
    at += Math.max(1, removed + added)
  }
  return marked
}

function markPair(lines: DiffLine[], oldAt: number, newAt: number): void {
  const old = lines[oldAt]
  const next = lines[newAt]
  if (!old || !next) return
  const shortest = Math.min(old.text.length, next.text.length)
  let head = 0
  while (head < shortest && old.text[head] === next.text[head]) head++
  let tail = 0
  while (tail < shortest - head && old.text.at(-1 - tail) === next.text.at(-1 - tail)) tail++
  // Lines with almost nothing in common were rewritten, so word marks would be noise.
  if (head + tail < shortest * 0.3) return
  lines[oldAt] = { ...old, word: [head, old.text.length - tail] }
  lines[newAt] = { ...next, word: [head, next.text.length - tail] }
}
