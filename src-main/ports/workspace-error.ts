/** A failure of git or the disk around a repository or worktree. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code:
    | 'not_a_git_repository'
    | 'repository_has_no_commits'
    /** The repository was moved or deleted since it was added. */
    | 'repository_missing'
    | 'setup_failed'
    | 'git_failed'
    | 'branch_missing'
    | 'outside_worktree'
    /** Files of the worktree contain conflict markers. */
    | 'unfinished_merge'
    /** A merge was made, but the target does not contain it. */
    | 'unverified'
  /** The command that a person would run to fix it, in the given folder. */
  readonly command: string | undefined

  constructor(code: WorkspaceError['code'], message: string, options?: ErrorOptions & { readonly command?: string }) {
    super(message, options)
    this.code = code
    this.command = options?.command
  }
}
