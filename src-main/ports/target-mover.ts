import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { BranchRef, MergeRequest } from './branch-ref.ts'
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

export type MergeResult =
  /**
   * `commit` is the target's commit now. A branch that was already merged gives `merged` too; `empty`: it never had
   * its own commit. `unsigned`: why it could not be signed.
   */
  | { readonly kind: 'merged'; readonly commit: string; readonly empty?: true; readonly unsigned?: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly hunks: readonly ConflictHunk[] }
  | { readonly kind: 'target_dirty'; readonly files: readonly string[] }

/** A move of a base branch to the work of a task. */
export interface BaseMove {
  readonly from: string
  readonly to: string
  /** The commit of the task's branch that the move brings in. */
  readonly head: string
}

/** Told of a move before the branch moves, so that it is known after a crash. */
export type BeforeMove = (move: BaseMove) => void

export interface UndoRequest extends BaseMove {
  readonly repo_path: string
  readonly base_branch: string
  /** The task's branch, which is made again if it is gone. */
  readonly branch: string
  readonly task_id: string
}

export type UndoneMerge =
  | MovedTarget
  /** The base branch is elsewhere by now, or gone. */
  | { readonly kind: 'newer' }
  /** A remote-tracking ref has the merge. */
  | { readonly kind: 'pushed'; readonly ref: string }
  /** The task's branch and its commit are gone. */
  | { readonly kind: 'work_gone' }

export interface RevertRequest extends Pick<BaseMove, 'from' | 'to'> {
  readonly repo_path: string
  readonly base_branch: string
  /** The new branch. */
  readonly branch: string
  readonly message: string
}

export type RevertedMerge =
  /** The branch has one commit on top of the base's tip, `base_commit`. */
  | { readonly kind: 'reverted'; readonly base_commit: string }
  /** The branch is at the base's tip. `command`: what a coder begins with. */
  | {
      readonly kind: 'conflict'
      readonly base_commit: string
      readonly files: readonly string[]
      readonly command: string
    }
  /** The base has none of the work; no branch was made. */
  | { readonly kind: 'nothing_to_do' }

/** A change in a checkout of the user's that git was told not to show. */
export interface HiddenChange {
  readonly path: string
  readonly flag: 'skip-worktree' | 'assume-unchanged'
  readonly checkout: string
}

/** A commit since another on a branch, with the task that its message names. */
export interface LandedCommit {
  readonly commit: string
  readonly subject: string
  readonly task_id: string | null
}

/** Merges into branches of the user, at once or one step at a time, as landing does. */
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
  /** Returns whether the user's checkout could follow a merge now. */
  checkTarget(
    ref: BranchRef & Pick<MergeRequest, 'head'>,
    options: Cancellable,
  ): Promise<{ readonly dirty: readonly string[] }>
  /** Returns which of these files of the base's checkouts have changes that a flag hides from git. */
  hiddenChanges(
    ref: Pick<BranchRef, 'repo_path' | 'base_branch'>,
    files: readonly string[],
    options: Cancellable,
  ): Promise<readonly HiddenChange[]>
  merge(request: MergeRequest, options: Cancellable & { readonly beforeMove?: BeforeMove }): Promise<MergeResult>
  /**
   * Moves a base branch back to where it was before a merge, if it still points at the merge and no remote has it; its
   * checkouts follow as for a merge. Afterwards the task's branch has the merged work.
   */
  undoMerge(request: UndoRequest, options: Cancellable): Promise<UndoneMerge>
  /** Makes a branch on the tip of the base that reverts a merge. */
  revertMerge(request: RevertRequest, options: Cancellable): Promise<RevertedMerge>
  /**
   * Moves a base branch forward to a commit that the repository has, and its checkouts with it; `not_moved` if the branch
   * has commits of its own.
   */
  fastForward(
    request: { readonly repo_path: string; readonly base_branch: string; readonly to: string },
    options: Cancellable,
  ): Promise<MovedTarget>
  /** Returns the tree of a commit; null if the repository doesn't have it. */
  treeOf(repo_path: string, commit: string, options: Cancellable): Promise<string | null>
  /** Returns whether a branch has a commit. */
  hasCommit(repo_path: string, branch: string, commit: string, options: Cancellable): Promise<boolean>
  /**
   * Finishes merges that a killed service left incomplete: if the branch had moved, its checkouts are updated and
   * their indexes unlocked.
   */
  finishMerges(repo_path: string, options: Cancellable): Promise<void>
}
