import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { MergeConflicts, updateStrategies } from '../../src-shared/contract/merges.ts'
import type { Cancellable } from './cancellable.ts'
import type { BranchRef, MergeRequest } from './branch-ref.ts'

export interface UpdateRequest extends BranchRef {
  readonly task_id: TaskId
  readonly strategy: (typeof updateStrategies)[number]
  /** Message of the merge commit. */
  readonly message: string
  /** Message of the commit that saves uncommitted work first. */
  readonly keep_message: string
  /**
   * `report` changes nothing; `leave` writes the merge with its markers into the worktree, for a person's editor.
   * Without a worktree `leave` reports too.
   */
  readonly on_conflict: 'report' | 'leave'
  /** A rebase leaves out what this commit has: where the branch began, in case the base no longer has that. */
  readonly without?: string | null
}

export type UpdateResult =
  | {
      readonly kind: 'updated'
      /**
       * `merge` is used even where a rebase was asked for, if the rebase would lose how the branch's own merges were
       * resolved.
       */
      readonly strategy: (typeof updateStrategies)[number]
      readonly head: string
      readonly base: string
      /** The ref that keeps the commits that a rebase replaced. */
      readonly rescue_ref: string | null
    }
  /** The update would overwrite these files of the worktree, which are ignored or were written just now. */
  | { readonly kind: 'in_the_way'; readonly files: readonly string[] }
  | { readonly kind: 'up_to_date'; readonly head: string; readonly base: string }
  | {
      readonly kind: 'conflict'
      /** The worktree holds the conflicted merge, from this call or an earlier one. */
      readonly left: boolean
      readonly head: string
      readonly base: string
      readonly files: readonly string[]
      readonly hunks: readonly ConflictHunk[]
    }

export interface RestackRequest extends BranchRef {
  readonly task_id: TaskId
  /** The branch that its own commits are to lie on. */
  readonly onto_branch: string
  /** Commits that it may lie on now; the latest one in its history counts. */
  readonly lay_on: readonly string[]
  /** A commit that its coder was asked to lay it on, and may have merged instead. */
  readonly asked: string | null
  /** Message of the commit that takes the place of commits with merges among them. */
  readonly message: string
  /** Message of the commit that saves uncommitted work first. */
  readonly keep_message: string
}

/** A move of a branch, as it is about to be made. */
export interface RestackMove {
  readonly from: string
  readonly to: string
  readonly onto: string
  readonly tree_before: string
  readonly tree_after: string
}

export type RestackResult =
  | (RestackMove & { readonly kind: 'moved'; readonly rescue_ref: string })
  | { readonly kind: 'up_to_date'; readonly head: string; readonly onto: string }
  /** Nothing has changed. `lies_on`: the commit that its own commits lie on. */
  | {
      readonly kind: 'conflict'
      readonly onto: string
      readonly lies_on: string
      readonly files: readonly string[]
      readonly hunks: readonly ConflictHunk[]
    }
  /** The move would overwrite these files of the worktree, which are ignored or were written just now. */
  | { readonly kind: 'in_the_way'; readonly files: readonly string[] }

/** Brings a branch up to date with its base. */
export interface BranchUpdater {
  /** Returns the conflicts that a merge into the base would have now, uncommitted work included. */
  conflicts(ref: BranchRef & Pick<MergeRequest, 'strategy'>, options: Cancellable): Promise<MergeConflicts>
  /** Merges or rebases the branch onto its base, with its worktree; uncommitted work is committed first. */
  updateBranch(request: UpdateRequest, options: Cancellable): Promise<UpdateResult>
  /**
   * Lays a branch's own commits on another branch, with its worktree; uncommitted work is committed first, and the
   * replaced commits are kept. `beforeMove` is called before the branch moves.
   */
  restack(
    request: RestackRequest,
    options: Cancellable & { readonly beforeMove: (move: RestackMove) => void },
  ): Promise<RestackResult>
}
