import type { chapterKinds } from '../../../src-shared/contract/chapters.ts'
import type { ChangedSource, ChangeFacts, LinePlace } from './facts.ts'
import { isLockFile, isManifest, isSource, isTestFile } from './file-kinds.ts'
import { findMoves } from './find-moves.ts'
import { findRenames } from './find-renames.ts'
import type { Hunk } from './hunk.ts'

export type HunkKind = (typeof chapterKinds)[number]

/** A hunk with what it is, as far as it is proven. */
export interface ClassifiedHunk {
  readonly hunk: Hunk
  readonly kind: HunkKind
  /** Nothing in it needs to be read: the kind is proven, and no risk is in it. */
  readonly is_folded: boolean
  /** Where moved lines were. */
  readonly from: LinePlace | null
}

/** Returns the kind of each hunk, in the order of the files. Hunks of `risky` are never folded. */
export function classifyHunks(facts: ChangeFacts, risky: ReadonlySet<string>): readonly ClassifiedHunk[] {
  const moves = findMoves(facts)
  const renames = findRenames(facts)
  const prove = (file: ChangedSource, hunk: Hunk): HunkKind | null => {
    if (file.is_generated || isLockFile(file.path)) return 'generated'
    if (hunk.cause === 'rename') return file.hunks.length === 1 ? 'renamed' : null
    if (hunk.cause !== 'lines') return null
    const known = facts.syntax.get(hunk.id)
    if (known?.is_formatting === true || changesLineEndsOnly(file, hunk, facts)) return 'formatted'
    if (renames.has(hunk.id)) return 'renamed'
    return moves.has(hunk.id) ? 'moved' : null
  }
  return facts.files.flatMap((file) =>
    file.hunks.map((hunk): ClassifiedHunk => {
      const proven = prove(file, hunk)
      const is_folded = proven !== null && !risky.has(hunk.id)
      const kind = is_folded ? proven : kindOfPath(file.path)
      return { hunk, kind, is_folded, from: proven === 'moved' ? (moves.get(hunk.id) ?? null) : null }
    }),
  )
}

function kindOfPath(path: string): HunkKind {
  if (isManifest(path) || isLockFile(path)) return 'dependencies'
  if (isTestFile(path)) return 'tests'
  return isSource(path) ? 'core' : 'other'
}

/** Without a grammar only line ends are known to have no meaning, but not to a system that reads a script's first line. */
function changesLineEndsOnly({ path, old_text }: ChangedSource, hunk: Hunk, { hasGrammar }: ChangeFacts): boolean {
  const { removed, added } = hunk
  if (hasGrammar(path) || old_text === null || old_text.startsWith('#!') || removed.length !== added.length)
    return false
  const withoutReturn = (line: string): string => line.replace(/\r$/, '')
  return removed.every((line, at) => withoutReturn(line) === withoutReturn(added[at] ?? '')) && !isSameText(hunk)
}

/** A hunk with equal lines is about the missing line end at the end of the file. */
const isSameText = ({ removed, added }: Hunk): boolean => removed.every((line, at) => line === added[at])
