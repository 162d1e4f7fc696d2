import type { Comment, CommentAnchor } from '../../../src-shared/contract/comments.ts'
import type { DiffAnnotation, DiffPosition } from '../../components/diff/diff-notes.ts'
import type { Thread } from '../../model/comment-threads.ts'

/** The key of the note with the new comment. */
export const NEW = 'new'

export interface LineAnnotations {
  /** The notes in the diff, in the order of the threads. */
  readonly notes: readonly DiffAnnotation[]
  /** Threads on files that the diff doesn't contain. */
  readonly unplacedThreads: readonly Thread[]
  /** The number of open threads by path. */
  readonly counts: ReadonlyMap<string, number>
}

/** Returns the notes for threads on shown files and for the comment being written. */
export function lineAnnotations(
  threads: readonly Thread[],
  paths: ReadonlySet<string>,
  writing: DiffPosition | null,
): LineAnnotations {
  const notes: DiffAnnotation[] = []
  const unplacedThreads: Thread[] = []
  const counts = new Map<string, number>()
  for (const thread of threads) {
    const { anchor, id } = thread.root
    if (anchor === null) continue
    if (paths.has(anchor.path)) notes.push({ ...placeNow(thread.root, anchor), key: id })
    else if (!thread.resolved) unplacedThreads.push(thread)
    if (!thread.resolved) counts.set(anchor.path, (counts.get(anchor.path) ?? 0) + 1)
  }
  if (writing && paths.has(writing.path)) notes.push({ ...writing, key: NEW })
  return { notes, unplacedThreads, counts }
}

/** Returns the current position of a comment's lines, as far as it was computed. */
function placeNow({ answer }: Comment, anchor: CommentAnchor): DiffPosition {
  const line = answer?.change?.line ?? anchor.line
  return line === anchor.line ? anchor : { path: anchor.path, side: anchor.side, line }
}

/** Adds up numbers by path. */
export function sumCounts(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sum = new Map(a)
  for (const [path, number] of b) sum.set(path, (sum.get(path) ?? 0) + number)
  return sum
}

/** Returns a position of the diff as a comment anchor. */
export function anchorOf({ path, side, line, start_line }: DiffPosition): CommentAnchor {
  return { path, side, line, ...(start_line !== undefined && { start_line }) }
}

/** Parses a stored position; returns null if it is invalid. */
export function readPlace(text: string | null): DiffPosition | null {
  if (text === null) return null
  try {
    const { path, side, line, start_line } = JSON.parse(text) as Partial<DiffPosition>
    if (typeof path !== 'string' || typeof line !== 'number' || (side !== 'old' && side !== 'new')) return null
    return { path, side, line, ...(typeof start_line === 'number' && { start_line }) }
  } catch (error) {
    // An older version stored another format, so ignore it.
    if (error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}
