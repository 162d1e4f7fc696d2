import type { Cancellable } from './cancellable.ts'
import type { MergeRequest } from './branch-ref.ts'

/** A task's work and the commit that it would be merged into. */
export interface WorkOnBase {
  /** Its worktree, whose uncommitted work counts too; null if that is gone. */
  readonly path: string | null
  /** The tip of its branch. */
  readonly head: string
  readonly base: string
}

/** Finds out what merges of tasks into their bases would meet. Moves no ref and changes no file. */
export interface BaseConflictReader {
  /** Returns the tips of those branches that exist. Cheap: it reads git's files where they are enough. */
  readTips(repo_path: string, branches: readonly string[], options: Cancellable): Promise<ReadonlyMap<string, string>>
  /** Returns the files in which each merge conflicts; null for commits that git can't merge at all. */
  readBaseConflicts(
    repo_path: string,
    strategy: MergeRequest['strategy'],
    works: readonly WorkOnBase[],
    options: Cancellable,
  ): Promise<readonly (readonly string[] | null)[]>
}
