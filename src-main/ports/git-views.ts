/** A private view of a repository's common git folder, in which contained runs of one worktree write. */
export interface GitView {
  /** What is mounted in a run's box, in this order. */
  readonly mounts: readonly ViewMount[]
  /**
   * Takes over what the run made and, after the last run, removes the view. Resolves to the paths in the common git
   * folder of what could not be taken.
   */
  close(): Promise<readonly string[]>
}

export interface ViewMount {
  readonly from: string
  readonly to: string
  readonly writable: boolean
}

export interface GitUser {
  readonly name: string | null
  readonly email: string | null
}

export interface GitViews {
  /** Opens the view of a worktree for one run; null for a folder that is no linked worktree, or can't have one. */
  open(worktree: string): Promise<GitView | null>
  /** Returns whether `open` would give a view. */
  isPossible(worktree: string): Promise<boolean>
  /** Returns the name and the email address that git gives commits there, each null if none is configured. */
  userOf(worktree: string): Promise<GitUser>
  /** Remembers the branch that is the worktree's own. Otherwise it is the one that its HEAD names. */
  expect(worktree: string, branch: string): void
  /** Takes over what runs have made so far in this worktree, or in all; cheap where there is nothing new. */
  takeOver(worktree?: string): Promise<void>
}
