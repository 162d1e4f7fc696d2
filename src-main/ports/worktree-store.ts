import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { FolderSize } from '../../src-shared/contract/workspaces.ts'
import type { BranchRef } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'
import type { Containment, ContainmentRules } from './containment.ts'
import type { RepositoryState } from './repository-state.ts'

export interface WorktreeRequest {
  readonly repo_path: string
  /** The task that rescues made on the way belong to; by default the folder's name. */
  readonly task_id?: TaskId
  /** Path of the existing or new worktree. */
  readonly path: string
  readonly branch: string
  readonly base_branch: string
  /** `existing`: the task had a worktree before, so a missing branch means lost work. */
  readonly expect: 'new' | 'existing'
  /** An earlier `base_commit`, returned again without computing it. */
  readonly known_base?: string
  readonly setup_commands: readonly string[]
  /** Absent: the set-up commands are not contained. */
  readonly containment?: ContainmentRules
  /** Marks the processes of set-up commands, so that leftovers of a crash can be found (`Scripts.reap`). */
  readonly processMarker?: string
  readonly copy_files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type WorktreeResult =
  | { readonly kind: 'ready'; readonly how: 'created' | 'reused' | 'recovered'; readonly base_commit: string }
  /** Folder and branch are both gone: a person must reset the task. */
  | { readonly kind: 'branch_gone' }

export interface WorktreeStatus {
  readonly dirty: boolean
  readonly ahead: number
  readonly behind: number
  readonly head: string
}

/** Repositories inside a worktree that a merge would not take along. */
export interface InnerRepositories {
  /** Paths in the worktree of repositories that are not submodules. */
  readonly nested: readonly { readonly path: string; readonly has_remote: boolean }[]
  /** Submodules at a commit that none of their remotes has. */
  readonly unpushed: readonly string[]
}

interface EnsureOptions extends Cancellable {
  /** Contains set-up commands; by default as this machine does. */
  readonly containment?: Pick<Containment, 'box'>
}

/**
 * Makes, reads and removes worktrees; nothing here knows a task's state. A caller holds no lock: methods that write
 * lock the worktree or the repository themselves. For example `ensure({ path, branch, expect: 'existing', … })` answers
 * `branch_gone` where folder and branch are both missing, and has then made nothing.
 */
export interface WorktreeStore {
  ensure(request: WorktreeRequest, options: EnsureOptions): Promise<WorktreeResult>
  exists(path: string): Promise<boolean>
  /** Returns whether a folder is, as its files say, a worktree on this branch; false where git would have to be asked. */
  isOnBranch(path: string, branch: string, options: Cancellable): Promise<boolean>
  /** Returns the size of a worktree's files, ignored ones included, or null if it does not exist. */
  size(path: string, options: Cancellable): Promise<FolderSize | null>
  status(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<WorktreeStatus>
  /** Returns the commit that a worktree is on. */
  head(path: string, options: Cancellable): Promise<string>
  innerRepositories(ref: BranchRef & { readonly path: string }, options: Cancellable): Promise<InnerRepositories>
  /** Turns nested repositories into plain files; their history is rescued. */
  absorbNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /** Removes nested repositories from the worktree and rescues all of each. */
  removeNested(
    ref: BranchRef & { readonly path: string },
    task_id: TaskId,
    paths: readonly string[],
    options: Cancellable,
  ): Promise<void>
  /**
   * Hashes what controls git in a worktree's repository: configuration, hooks, attributes, alternates, replaced
   * objects. `refs`: with all refs and the stash list.
   */
  repositoryState(path: string, options: Cancellable & { readonly refs: boolean }): Promise<RepositoryState>
  /** Returns the commits of all branches of a worktree's repository, by name. */
  branches(path: string, options: Cancellable): Promise<Readonly<Record<string, string>>>
  /**
   * Moves branches back that were moved to commits made in this worktree since, except checked-out ones; returns
   * their refs.
   */
  putBackBranches(
    path: string,
    before: Readonly<Record<string, string>>,
    options: Cancellable,
  ): Promise<readonly string[]>
  /**
   * Discards uncommitted work (untracked files, not ignored ones) after saving it as `rescue` does; returns the ref
   * or null.
   */
  resetWorktree(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /** Removes worktree and branch after saving commits and uncommitted work under `refs/svc/rescue/{task}/{time}`. */
  discard(
    request: {
      readonly repo_path: string
      readonly path: string
      readonly branch: string
      readonly base_commit: string | null
      readonly task_id: TaskId
    },
    options: Cancellable,
  ): Promise<string | null>
  /**
   * Saves uncommitted work under `refs/svc/rescue/{task}/{time}`; returns the ref, or null if everything is
   * committed.
   */
  rescue(path: string, task_id: TaskId, options: Cancellable): Promise<string | null>
  /**
   * Removes the worktree after rescuing uncommitted work; removes the branch only if asked to, and it is merged or
   * `force` is set.
   */
  remove(
    request: {
      readonly repo_path: string
      readonly path: string
      readonly task_id: TaskId
      readonly branch?: string
      readonly delete_branch?: boolean
    },
    options: Cancellable,
  ): Promise<void>
  /** Returns whether the worktree at `path` belongs to the repository, or would after `relink` mends its links. */
  isKnownTo(repo_path: string, path: string, options: Cancellable): Promise<boolean>
  /** Links a worktree to its moved repository again; a worktree of another repository is left alone. */
  relink(repo_path: string, path: string, options: Cancellable): Promise<void>
}
