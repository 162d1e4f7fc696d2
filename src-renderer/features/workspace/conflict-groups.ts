import type { ConflictHunk, ConflictKind } from '../../../src-shared/contract/conflicts.ts'

/** The side of a conflict line; `mark` is one of git's marker lines. */
type ConflictSide = 'both' | 'ours' | 'base' | 'theirs' | 'mark'

export interface ConflictPlace {
  readonly line: number | null
  readonly lines: readonly { readonly text: string; readonly side: ConflictSide }[]
  readonly truncated: boolean
}

/** A conflicting file: the reason why git couldn't merge it, and its hunks. */
export interface ConflictFile {
  readonly path: string
  readonly why: string
  readonly places: readonly ConflictPlace[]
}

const reasons = {
  content: 'Both changed the same lines',
  'add/add': 'Both added it',
  'modify/delete': 'Changed on one side, deleted on the other',
  'rename/delete': 'Renamed on one side, deleted on the other',
  'rename/rename': 'Renamed in two ways',
  'rename/collision': 'Two files were renamed to this',
  'rename/directory': 'Its folder was renamed on one side',
  'file/directory': 'A file on one side, a folder on the other',
  'file/type': 'Another kind of file on each side',
  symlink: 'A link that leads to two places',
  submodule: 'The submodule is at another commit on each side',
  binary: 'Both changed a binary file',
} as const satisfies Record<ConflictKind, string>

/** Returns the files in order with their hunks. Files that only a hunk names come last. */
export function groupConflicts(files: readonly string[], hunks: readonly ConflictHunk[]): ConflictFile[] {
  const paths = [...new Set([...files, ...hunks.map((hunk) => hunk.path)])]
  return paths.map((path) => {
    const own = hunks.filter((hunk) => hunk.path === path)
    return {
      path,
      why: [...new Set(own.map((hunk) => reasons[hunk.kind]))].join(', '),
      places: own.flatMap(({ line, text, truncated }) =>
        text === null ? [] : [{ line, truncated, lines: linesOf(text) }],
      ),
    }
  })
}

/** A row of a conflict: a line of each side; null where that side has none. */
interface SideRow {
  readonly left: string | null
  readonly right: string | null
  readonly isConflict: boolean
}

/** A conflicting place with both sides beside each other. */
export interface ConflictSides {
  /** The names in git's markers; empty if there are none. */
  readonly left: string
  readonly right: string
  readonly rows: readonly SideRow[]
}

/**
 * Lays the sides of a place beside each other, with the common lines around them. `base`: the branch that belongs on
 * the left; git puts first what a merge or a rebase moves.
 */
export function layOutSides(lines: ConflictPlace['lines'], base: string): ConflictSides {
  const names = { ours: '', theirs: '' }
  const rows: SideRow[] = []
  let ours: string[] = []
  let theirs: string[] = []
  const flush = (): void => {
    for (let at = 0; at < Math.max(ours.length, theirs.length); at++)
      rows.push({ left: ours[at] ?? null, right: theirs[at] ?? null, isConflict: true })
    ours = []
    theirs = []
  }
  for (const { text, side } of lines) {
    if (side === 'ours') ours.push(text)
    else if (side === 'theirs') theirs.push(text)
    else if (side === 'both') rows.push({ left: text, right: text, isConflict: false })
    else if (side === 'mark') {
      const [, mark = '', name = ''] = /^([<>])[<>]{6,} (.+?)(?::[^:]*)?\r?$/.exec(text) ?? []
      if (mark === '<') names.ours = name
      if (mark !== '>') continue
      names.theirs = name
      flush()
    }
  }
  // The text may have been cut before the last marker.
  flush()
  if (names.theirs !== base) return { left: names.ours, right: names.theirs, rows }
  const swapped = rows.map(({ left, right, isConflict }) => ({ left: right, right: left, isConflict }))
  return { left: names.theirs, right: names.ours, rows: swapped }
}

/** Returns the lines with their sides, detected by git's markers of any length. */
function linesOf(text: string): ConflictPlace['lines'] {
  let side: ConflictSide = 'both'
  // The trailing line break adds no line.
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const next = sideAfter(line, side)
      if (next === null) return { text: line, side }
      side = next
      return { text: line, side: 'mark' }
    })
}

function sideAfter(line: string, side: ConflictSide): ConflictSide | null {
  if (side === 'both') return /^<{7,}(?: |$)/.test(line) ? 'ours' : null
  if (side === 'ours' && /^\|{7,}(?: |$)/.test(line)) return 'base'
  if (side !== 'theirs' && /^={7,}\r?$/.test(line)) return 'theirs'
  return side === 'theirs' && /^>{7,}(?: |$)/.test(line) ? 'both' : null
}
