import type { ChangedSource } from './facts.ts'
import { isLockFile } from './file-kinds.ts'
import type { Hunk } from './hunk.ts'
import type { IdentifierChange, SyntaxRequest } from './syntax.ts'

/**
 * Returns the files whose syntax the rules ask for, each with the sides that they ask for: parsing is most of the time
 * that chapters take. The work's side says what is defined and used. The base's side says what may be folded, so it is
 * left out if the lines alone show that nothing is.
 */
export function syntaxRequests(files: readonly ChangedSource[]): readonly SyntaxRequest[] {
  const read = files.flatMap((file) => {
    const hunks = file.hunks.filter(({ cause }) => cause === 'lines')
    return isAsked(file, hunks) ? [{ file, hunks }] : []
  })
  const renamed = new Set(read.flatMap(({ hunks }) => hunks.flatMap((hunk) => possibleRename(hunk)?.to ?? [])))
  return read.map(({ file: { path, old_text, new_text }, hunks }): SyntaxRequest => {
    const needsOld = old_text !== null && (hasMove(hunks) || hunks.some((hunk) => mayFold(hunk, renamed)))
    return { path, old_text: needsOld ? old_text : null, new_text, hunks, has_old: needsOld || old_text === null }
  })
}

function isAsked(
  { path, is_generated, old_mode, new_mode, old_text, new_text }: ChangedSource,
  hunks: readonly Hunk[],
) {
  // Files that tools write are folded whatever they define, and a deleted file defines nothing.
  if (is_generated || isLockFile(path) || new_mode === null) return false
  // Only a side that is missing has no text; a side that is too large can't be compared.
  if (new_text === null || (old_mode !== null && old_text === null)) return false
  return hunks.some((hunk) => hunk.added.length > 0 || isSpaceOnly(hunk))
}

/** Returns whether a hunk could be formatting, or has to do with giving a thing another name. */
function mayFold(hunk: Hunk, renamed: ReadonlySet<string>): boolean {
  if (isSpaceOnly(hunk) || possibleRename(hunk) !== null) return true
  // A definition of the new name elsewhere decides whether it is one.
  return renamed.size > 0 && wordsOf(hunk.added).some((one) => renamed.has(one))
}

/** Returns whether lines of one hunk could be those of another hunk of the file, in another symbol. */
function hasMove(hunks: readonly Hunk[]): boolean {
  const trimmed = (lines: readonly string[]): readonly string[] => lines.map((line) => line.trim()).filter(Boolean)
  const removed = new Set(hunks.flatMap((hunk) => trimmed(hunk.removed)))
  const added = new Set(hunks.flatMap((hunk) => trimmed(hunk.added)))
  const isIn = (lines: readonly string[], others: ReadonlySet<string>): boolean => others.has(trimmed(lines)[0] ?? '')
  return hunks.some(
    (hunk) =>
      (hunk.removed.length === 0 && isIn(hunk.added, removed)) ||
      (hunk.added.length === 0 && isIn(hunk.removed, added)),
  )
}

const spaces = /[ \t\r\n]+/g

/** Returns whether a hunk changes nothing but white space. */
export function isSpaceOnly({ removed, added }: Pick<Hunk, 'removed' | 'added'>): boolean {
  return removed.join('').replaceAll(spaces, '') === added.join('').replaceAll(spaces, '')
}

const word = /[\p{L}\p{N}_$]+/gu
const wordsOf = (lines: readonly string[]): readonly string[] => lines.join('\n').match(word) ?? []

/** Returns the one word that differs, if it is always the same by the same; an identifier is a word or a part of one. */
function possibleRename({ removed, added }: Hunk): IdentifierChange | null {
  if (removed.length === 0 || removed.length !== added.length) return null
  const [before, after] = [wordsOf(removed), wordsOf(added)]
  if (before.length !== after.length) return null
  let found: IdentifierChange | null = null
  for (const [at, from] of before.entries()) {
    const to = after[at] ?? ''
    if (from === to) continue
    if (/^\d/.test(from) || /^\d/.test(to)) return null
    if (found && (found.from !== from || found.to !== to)) return null
    found = { from, to }
  }
  return found
}
