import type { ChangeFacts, LinePlace } from './facts.ts'
import { isLockFile, isTestFile } from './file-kinds.ts'
import type { Hunk } from './hunk.ts'

/** A shorter block counts as moved only if it names something, and each side of the change has it once. */
const minLetters = 20
const maxPlaces = 200

interface Place {
  readonly hunk: Hunk
  readonly at: number
}

/**
 * Returns the hunks whose lines are in the same order on the other side of the change, in another file or symbol, with
 * at most one step more or less of indentation; with the place they are from, null for the place they left. Within one
 * symbol nothing counts as moved, because there the order decides what the lines do.
 */
export function findMoves({ files, syntax }: ChangeFacts): ReadonlyMap<string, LinePlace | null> {
  // Files that tools write have the same lines by chance, and their side is folded.
  const written = files.filter(({ path, is_generated }) => !is_generated && !isLockFile(path))
  const hunks = written.flatMap((file) => file.hunks).filter(({ cause }) => cause === 'lines')
  const removed = indexLines(hunks, ({ removed: lines }) => lines)
  const added = indexLines(hunks, ({ added: lines }) => lines)
  const isElsewhere = (from: Hunk, to: Hunk): boolean => {
    // Code that becomes text, or a test, does something else there.
    if (endingOf(from.path) !== endingOf(to.path) || isTestFile(from.path) !== isTestFile(to.path)) return false
    if (from.path !== to.path) return true
    const [old, now] = [syntax.get(from.id), syntax.get(to.id)]
    if (old?.has_old !== true || now?.has_old !== true) return false
    return old.old_symbol !== now.new_symbol
  }
  const moves = new Map<string, LinePlace | null>()
  const usedRemoved = new Set<string>()
  const usedAdded = new Set<string>()
  for (const hunk of hunks) {
    if (hunk.removed.length === 0) {
      const place = findPlace(
        hunk.added,
        { own: added, other: removed },
        { used: usedRemoved, fits: (from) => isElsewhere(from, hunk) },
      )
      if (place)
        moves.set(hunk.id, { path: place.hunk.old_path ?? place.hunk.path, line: place.hunk.old[0] + place.at })
    } else if (hunk.added.length === 0) {
      const place = findPlace(
        hunk.removed,
        { own: removed, other: added },
        { used: usedAdded, fits: (to) => isElsewhere(hunk, to) },
      )
      if (place) moves.set(hunk.id, null)
    }
  }
  return moves
}

interface LineIndex {
  readonly linesOf: (hunk: Hunk) => readonly string[]
  readonly places: ReadonlyMap<string, readonly Place[]>
}

function indexLines(hunks: readonly Hunk[], linesOf: (hunk: Hunk) => readonly string[]): LineIndex {
  const places = new Map<string, Place[]>()
  for (const hunk of hunks) {
    for (const [at, line] of linesOf(hunk).entries()) {
      const text = line.trim()
      if (text === '') continue
      const known = places.get(text)
      if (known) known.push({ hunk, at })
      else places.set(text, [{ hunk, at }])
    }
  }
  return { linesOf, places }
}

/** Finds the first place of a block that no other block was found at, and takes it. */
function findPlace(
  block: readonly string[],
  { own, other: { linesOf, places } }: { readonly own: LineIndex; readonly other: LineIndex },
  { used, fits }: { readonly used: Set<string>; readonly fits: (hunk: Hunk) => boolean },
): Place | null {
  const first = block.findIndex((line) => line.trim() !== '')
  const start = block[first]
  if (start === undefined) return null
  const letters = block.join('').match(/[\p{L}\p{N}]/gu)?.length ?? 0
  const text = start.trim()
  const candidates = places.get(text) ?? []
  const isOnly = candidates.length === 1 && own.places.get(text)?.length === 1
  if (candidates.length > maxPlaces || (letters < minLetters && !(isOnly && hasName(block)))) return null
  for (const { hunk, at } of candidates) {
    const from = at - first
    if (from < 0 || !fits(hunk)) continue
    const lines = linesOf(hunk).slice(from, from + block.length)
    if (!isSameBlock(block, lines)) continue
    const keys = lines.map((_, number) => `${hunk.id} ${from + number}`)
    if (keys.some((key) => used.has(key))) continue
    for (const key of keys) used.add(key)
    return { hunk, at: from }
  }
  return null
}

const endingOf = (path: string): string => /\.[^./]*$/.exec(path)?.[0] ?? ''

const keywords = new Set(
  `return break continue else elif end begin then pass true false null None nil new this self super throw raise try
  finally catch except default case done esac yield await async static public private protected void var let const
  import export from and not for while loop`.split(/\s+/),
)

/** Returns whether a block has a word that is no keyword: `return` alone is the same everywhere. */
function hasName(block: readonly string[]): boolean {
  const words = block.join('\n').match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu) ?? []
  return words.some((word) => !keywords.has(word))
}

const indentationOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ''

/** Returns whether two blocks have the same lines, all of the second with the same step of indentation more or less. */
function isSameBlock(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  let step: string | null = null
  let isDeeper = false
  for (const [at, line] of one.entries()) {
    const match = other[at] ?? ''
    if (line.trim() === '' && match.trim() === '') continue
    const [a, b] = [indentationOf(line), indentationOf(match)]
    if (line.slice(a.length) !== match.slice(b.length)) return false
    const [short, long] = a.length < b.length ? [a, b] : [b, a]
    if (!long.startsWith(short)) return false
    const extra = long.slice(short.length)
    if (step === null) {
      step = extra
      isDeeper = b.length > a.length
    } else if (step !== extra || (extra !== '' && isDeeper !== b.length > a.length)) return false
  }
  return ['', '\t', '  ', '    '].includes(step ?? '')
}
