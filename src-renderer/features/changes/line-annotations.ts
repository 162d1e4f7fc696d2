import type { Comment, CommentAnchor } from '../../../src-shared/contract/comments.ts'
import type { DiffAnnotation, DiffPosition } from '../../components/diff/diff-notes.ts'
import type { Thread } from '../../model/comment-threads.ts'

/** The key of the note in which a new comment is written. */
export const NEW = 'new'

export interface LineAnnotations {
  /** What stands in the diff, in the order of the threads. */
  readonly notes: readonly DiffAnnotation[]
  /** Threads about files that are not among the changes. */
  readonly unplacedThreads: readonly Thread[]
  /** Path → how many threads about it are open. */
  readonly counts: ReadonlyMap<string, number>
}

/** The threads about lines where the diff shows their files, and the comment that is being written. */
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

/** Where the lines of a comment are by now, as far as that was looked at. */
function placeNow({ answer }: Comment, anchor: CommentAnchor): DiffPosition {
  const line = answer?.change?.line ?? anchor.line
  return line === anchor.line ? anchor : { path: anchor.path, side: anchor.side, line }
}

/** A place in the diff as a comment names it. */
export function anchorOf({ path, side, line, start_line }: DiffPosition): CommentAnchor {
  return { path, side, line, ...(start_line !== undefined && { start_line }) }
}

/** A place that was kept as text; null where it is none. */
export function readPlace(text: string | null): DiffPosition | null {
  if (text === null) return null
  try {
    const { path, side, line, start_line } = JSON.parse(text) as Partial<DiffPosition>
    if (typeof path !== 'string' || typeof line !== 'number' || (side !== 'old' && side !== 'new')) return null
    return { path, side, line, ...(typeof start_line === 'number' && { start_line }) }
  } catch (error) {
    // An older page wrote there: then nothing was being written.
    if (error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}
