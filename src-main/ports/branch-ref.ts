/** Where a task's work is: its worktree, or its branch once that is gone. */
export interface BranchRef {
  readonly repo_path: string
  /** null when the worktree is gone; the branch in the repository is used then. */
  readonly path: string | null
  readonly branch: string
  readonly base_branch: string
  readonly base_commit: string | null
}

export interface MergeRequest extends BranchRef {
  /** The commit to merge, wherever the branch points by then; by default the tip of the branch at the time of the merge. */
  readonly head?: string
  readonly strategy: 'merge' | 'squash' | 'rebase'
  /** Message of the merge (or squash) commit, trailers included. */
  readonly message: string
}
