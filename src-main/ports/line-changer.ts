import type { Comment } from '../../src-shared/contract/comments.ts'
import type { BranchRef } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'
import type { LinePlace } from './diff-reader.ts'

/** Lines of a file, with the tree of the whole work in which they were read. */
export type PlacedLines = NonNullable<Comment['original']>

export interface ApplyLines extends BranchRef {
  /** Position of the lines in the tree in which they were read. */
  readonly place: LinePlace
  readonly original: PlacedLines
  readonly replacement: readonly string[]
  readonly message: string
  /** Message of the commit that saves uncommitted work first. */
  readonly keep_message: string
}

export type AppliedLines =
  | { readonly kind: 'applied'; readonly commit: string }
  /** The lines have changed or are gone; the branch stays as it is. */
  | { readonly kind: 'changed' }
  /** The change would overwrite files of a checkout of the branch. */
  | { readonly kind: 'in_the_way'; readonly files: readonly string[] }

/** Changes lines of a task's work for a person. */
export interface LineChanger {
  /** Returns lines of the work, committed or not, or null if the path is no file or has no such lines. */
  lines(ref: BranchRef, place: LinePlace, options: Cancellable): Promise<PlacedLines | null>
  /** Replaces lines, wherever they have moved to, in a new commit; the worktree follows. */
  applyLines(request: ApplyLines, options: Cancellable): Promise<AppliedLines>
}
