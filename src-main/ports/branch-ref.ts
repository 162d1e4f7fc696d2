import type { signModes } from '../../src-shared/contract/projects.ts'

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
  /** Whether the commits of the merge are signed; `try`: unsigned if that fails. Default `never`. */
  readonly sign?: (typeof signModes)[number]
  /** Message of the merge (or squash) commit, trailers included. */
  readonly message: string
}
