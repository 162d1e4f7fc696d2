import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { Cancellable } from './cancellable.ts'

/** A commit of a project's repository that work has landed on: no run can have written what is in it. */
export interface BaseCommit {
  readonly project_id: ProjectId
  readonly repo_path: string
  readonly commit: string
}

/** Where a branch starts. */
export interface BranchStart {
  readonly repo_path: string
  /** The branch that its work lands on. */
  readonly lands_on: string
  /** The commit that it starts from, which may be on the branch of another task; null before it has one. */
  readonly base_commit: string | null
}

/** A file or folder in a commit. */
export interface BaseEntry {
  readonly path: string
  /** As git has it: `100644`, `100755`, `120000` for a link, `040000` for a folder. */
  readonly mode: string
  /** Names the content. */
  readonly id: string
}

/** Reads commits, without a worktree. */
export interface BaseFiles {
  /** Returns whether a folder is a worktree of a repository. */
  isWorktreeOf(worktree: string, repo_path: string, options: Cancellable): Promise<boolean>
  /** Returns the commit that a branch and the one it lands on have in common; null if that one does not exist. */
  commitOf(start: BranchStart, options: Cancellable): Promise<string | null>
  /** Lists all below these paths and themselves, as far as they exist. `''` is the whole commit. */
  list(base: BaseCommit, paths: readonly string[], options: Cancellable): Promise<readonly BaseEntry[]>
  /** Returns the text of a file; null if it is longer than 1 MB. */
  read(base: BaseCommit, entry: BaseEntry, options: Cancellable): Promise<string | null>
}

/** What commits say of how the programs of a task run. */
export interface ProjectBases {
  readonly files: BaseFiles
  /** Returns the base of the worktree in this folder; null if it belongs to no project. */
  of(worktree: string, options: Cancellable): Promise<BaseCommit | null>
  /** Checks a commit out for `use`, in a folder that ends with it. */
  withCheckout<T>(base: BaseCommit, use: (folder: string) => Promise<T>, options: Cancellable): Promise<T>
  /** Returns whether an admin lets what this names reach the machine of a runner. */
  isTrusted(runner_id: string, project_id: ProjectId, sha256: string): boolean
}
