import type { Comment } from '../../src-shared/contract/comments.ts'
import type { BranchRef } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'
import type { LinePlace } from './diff-reader.ts'

/** Lines of a file, and the tree of all of the work in which they were read. */
export type PlacedLines = NonNullable<Comment['original']>

export interface ApplyLines extends BranchRef {
  /** Where the lines were in the tree in which they were read. */
  readonly place: LinePlace
  readonly original: PlacedLines
  readonly replacement: readonly string[]
  readonly message: string
  /** What is uncommitted is committed first, with this message. */
  readonly keep_message: string
}

export type AppliedLines =
  | { readonly kind: 'applied'; readonly commit: string }
  /** The lines are others by now, or gone; the branch stays as it is. */
  | { readonly kind: 'changed' }
  /** A checkout of the branch has something that the change would overwrite. */
  | { readonly kind: 'in_the_way'; readonly files: readonly string[] }

/** What the engine needs to change lines of a task's work for a person. */
export interface LineChanger {
  /** Lines of the work as it is now, committed or not; null where the file does not have them, or is no file. */
  lines(ref: BranchRef, place: LinePlace, options: Cancellable): Promise<PlacedLines | null>
  /** Puts lines in the place of others, wherever those are by now, as a commit; the worktree follows. */
  applyLines(request: ApplyLines, options: Cancellable): Promise<AppliedLines>
}
