import type { BranchRef } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'

/** A task's complete work: its head commit, and a git tree of the files, committed or not. */
export interface Work {
  readonly head: string
  readonly tree: string
}

/** Reads the whole work of a task, committed or not, and commits it. */
export interface WorkKeeper {
  /** Returns the current work of a task, or null if it has neither worktree nor branch. */
  work(ref: BranchRef, options: Cancellable): Promise<Work | null>
  /**
   * Returns the paths that differ between an earlier tree of the work and the current one, `now`. If the repository
   * lacks the earlier tree, compares with the diff that was shown of it; without such a diff, returns all files.
   */
  changedFiles(ref: BranchRef, before: string, now: string, options: Cancellable): Promise<readonly string[]>
  /**
   * Commits exactly this work, whatever the worktree holds by now, moves the branch there if it is still at
   * `work.head`, and returns the commit.
   */
  commitWork(ref: BranchRef, work: Work, message: string, options: Cancellable): Promise<string>
  /**
   * Commits all uncommitted files (untracked ones, not ignored ones) and returns the commit, or null if there was
   * nothing.
   */
  commitAll(path: string, message: string, options: Cancellable): Promise<string | null>
}
