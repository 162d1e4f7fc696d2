import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { MergeRequest } from './branch-ref.ts'
import type { Cancellable } from './cancellable.ts'

/** A commit and what it holds. */
export interface Tip {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
}

/** A merge on top of a commit, which lies in the object store and which no branch has yet. */
export interface MergeOnto {
  /** The commit that it lies on. */
  readonly target: Tip
  /** The merged commit of the branch. */
  readonly head: Tip
  /** The merge; the target itself where the branch brings nothing new. */
  readonly commit: string
  readonly tree: string
  /** The branch never had a commit of its own. */
  readonly empty?: true
}

export type PreparedMerge =
  | ({ readonly kind: 'prepared' } & MergeOnto)
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly hunks: readonly ConflictHunk[] }

export type MovedTarget =
  | { readonly kind: 'moved' }
  /** Changes in the user's checkout are in the way; nothing has moved. */
  | { readonly kind: 'dirty'; readonly files: readonly string[] }
  /** The branch is elsewhere by now, or git's hooks forbid the move; nothing has moved. */
  | { readonly kind: 'not_moved'; readonly why: string }

/** A commit on a branch since another, with the task that its message names. */
export interface LandedCommit {
  readonly commit: string
  readonly subject: string
  readonly task_id: string | null
}

/** What the landing of tasks asks of a repository, one step at a time. */
export interface TargetMover {
  /** The commit that a branch points at; null when there is none. */
  tip(repo_path: string, branch: string, options: Cancellable): Promise<string | null>
  /** Merges a branch on top of a commit, in the object store alone. */
  prepareMerge(request: MergeRequest & { readonly onto: string }, options: Cancellable): Promise<PreparedMerge>
  /** Moves the target to the last of these merges, each prepared on top of the one before. Rejects if it does not hold them then. */
  moveTarget(
    merges: readonly { readonly request: MergeRequest; readonly prepared: MergeOnto }[],
    options: Cancellable,
  ): Promise<MovedTarget>
  /** Whether a merge changes one of these files. */
  mergeTouches(repo_path: string, prepared: MergeOnto, files: readonly string[], options: Cancellable): Promise<boolean>
  /** The commits along the first parents from where `head` left to `tip`, newest first, 100 at most. */
  landedSince(
    request: { readonly repo_path: string; readonly head: string; readonly tip: string },
    options: Cancellable,
  ): Promise<readonly LandedCommit[]>
  /** What a commit changed beside its first parent, as a patch of at most `bytes`. */
  patchOf(repo_path: string, commit: string, bytes: number, options: Cancellable): Promise<string>
}
