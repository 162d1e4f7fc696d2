import type { DiffLine, LineDiff } from '../../components/edits/line-diff.ts'

/** The first changed place of a patch. */
export interface FirstHunk {
  readonly path: string
  readonly diff: LineDiff
  /** The number of its first changed line. */
  readonly first: number
}

/** In lines; a longer hunk is cut, because the changes have all of it. */
const maxLines = 14
const maxContext = 2

/** Returns the beginning of the first hunk of a patch of git; null if it has none, as for a binary file. */
export function firstHunk(patch: string): FirstHunk | null {
  const lines = patch.split('\n')
  const start = lines.findIndex((line) => line.startsWith('@@ '))
  const path = lines.slice(0, Math.max(0, start)).findLast((line) => /^(\+\+\+|---) [^/]/.test(line))
  const position = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(lines[start] ?? '')
  if (path === undefined || position === null) return null
  const end = lines.findIndex((line, index) => index > start && !/^[ +\-\\]/.test(line))
  const hunk = lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => line !== '' && !line.startsWith('\\'))
  const touched = hunk.findIndex((line) => !line.startsWith(' '))
  const from = Math.max(0, touched - maxContext)
  const shown = hunk.slice(from, from + maxLines).map((line): DiffLine => {
    const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' '
    return { sign, text: line.slice(1), word: null }
  })
  return {
    path: nameIn(path),
    first: Number(position[1]) + touched,
    diff: {
      lines: shown,
      additions: shown.filter(({ sign }) => sign === '+').length,
      deletions: shown.filter(({ sign }) => sign === '-').length,
    },
  }
}

/** Returns the path of a line like `+++ b/src/a.ts`, which git quotes if it has special characters. */
function nameIn(line: string): string {
  return line
    .slice(4)
    .replace(/\t$/, '')
    .replace(/^"?[ab]\//, '')
    .replace(/"$/, '')
}
