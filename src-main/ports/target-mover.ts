import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { MergeRequest } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'

/** A commit and what it holds. */
export interface Tip {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
}

/** A merge commit on top of another, in the object store but not on any branch. */
export interface MergeOnto {
  /** The commit below it. */
  readonly target: Tip
  /** The merged commit of the branch. */
  readonly head: Tip
  /** The merge; equal to the target's commit if the branch adds nothing. */
  readonly commit: string
  readonly tree: string
  /** The branch never had its own commit. */
  readonly empty?: true
  /** Why it could not be signed, where that was tried. */
  readonly unsigned?: string
}

export type PreparedMerge =
  | ({ readonly kind: 'prepared' } & MergeOnto)
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly hunks: readonly ConflictHunk[] }

export type MovedTarget =
  | { readonly kind: 'moved' }
  /** Changes in the user's checkout would be overwritten; nothing has moved. */
  | { readonly kind: 'dirty'; readonly files: readonly string[] }
  /** The branch has moved, or git's hooks refuse the move; nothing has moved. */
  | { readonly kind: 'not_moved'; readonly why: string }

/** A commit since another on a branch, with the task that its message names. */
export interface LandedCommit {
  readonly commit: string
  readonly subject: string
  readonly task_id: string | null
}

/** The git operations of landing, one step at a time. */
export interface TargetMover {
  /** Returns the commit of a branch, or null if there is no such branch. */
  tip(repo_path: string, branch: string, options: Cancellable): Promise<string | null>
  /** Merges a branch on top of a commit, in the object store only. */
  prepareMerge(request: MergeRequest & { readonly onto: string }, options: Cancellable): Promise<PreparedMerge>
  /**
   * Moves the target to the last of these merges, each prepared on top of the one before. Rejects if the target does
   * not contain them afterwards.
   */
  moveTarget(
    merges: readonly { readonly request: MergeRequest; readonly prepared: MergeOnto }[],
    options: Cancellable,
  ): Promise<MovedTarget>
  /** Returns whether a merge changes one of these files. */
  mergeTouches(repo_path: string, prepared: MergeOnto, files: readonly string[], options: Cancellable): Promise<boolean>
  /** Returns the first-parent commits from the fork point of `head` to `tip`, newest first, at most 100. */
  landedSince(
    request: { readonly repo_path: string; readonly head: string; readonly tip: string },
    options: Cancellable,
  ): Promise<readonly LandedCommit[]>
  /** Returns the changes of a commit against its first parent as a patch of at most `bytes`. */
  patchOf(repo_path: string, commit: string, bytes: number, options: Cancellable): Promise<string>
}
