import type { Cancellable } from './cancellable.ts'

/** A temporary worktree that belongs to no task. */
export interface ScratchRequest {
  readonly repo_path: string
  /** The workspace root; the worktree lies below it where neither orphan search nor clean-up looks. */
  readonly root: string
  /** The branch or commit to check out. */
  readonly at: string
  readonly copy_files: readonly string[]
}

/** Worktrees that belong to no task and end with their use. */
export interface ScratchWorktrees {
  /**
   * Creates a detached worktree at a branch or commit for `use` and removes it afterwards, even if `use` throws. Its
   * folder is named by a new UUID. Set-up commands don't run; the repository is unchanged. Rejects as `use` does.
   */
  withScratch<T>(request: ScratchRequest, use: (path: string) => Promise<T>, options: Cancellable): Promise<T>
  /**
   * Removes such worktrees that killed services left below `root`, each after `before` resolves; returns their paths.
   */
  removeStaleScratch(root: string, before: (path: string) => Promise<void>): Promise<readonly string[]>
}
