/** The place of a task's work: its worktree, or its branch once the worktree is gone. */
export interface BranchRef {
  readonly repo_path: string
  /** null if the worktree is gone; the branch in the repository is used then. */
  readonly path: string | null
  readonly branch: string
  readonly base_branch: string
  readonly base_commit: string | null
}

export interface MergeRequest extends BranchRef {
  /** The commit to merge, even if the branch has moved; by default the branch's tip at the time of the merge. */
  readonly head?: string
  readonly strategy: 'merge' | 'squash' | 'rebase'
  /** Message of the merge (or squash) commit, trailers included. */
  readonly message: string
}
