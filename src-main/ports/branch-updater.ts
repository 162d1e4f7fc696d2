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
  /** Message of the commit that what is uncommitted goes into first. */
  readonly keep_message: string
  /**
   * `report` changes nothing; `leave` puts the merge with its markers into the worktree, for a person's editor. Where
   * there is no worktree, nothing can be left: that reports too.
   */
  readonly on_conflict: 'report' | 'leave'
}

export type UpdateResult =
  | {
      readonly kind: 'updated'
      /** `merge` also where a rebase would lose how the branch's own merges were resolved. */
      readonly strategy: (typeof updateStrategies)[number]
      readonly head: string
      readonly base: string
      /** Leads to the commits that a rebase replaced. */
      readonly rescue_ref: string | null
    }
  /** Files of the worktree that are ignored, or were written just now, are where the update puts others. */
  | { readonly kind: 'in_the_way'; readonly files: readonly string[] }
  | { readonly kind: 'up_to_date'; readonly head: string; readonly base: string }
  | {
      readonly kind: 'conflict'
      /** The merge is in the worktree now, or has been there since an earlier call. */
      readonly left: boolean
      readonly head: string
      readonly base: string
      readonly files: readonly string[]
      readonly hunks: readonly ConflictHunk[]
    }

/** What keeps a branch up with its base. A part of `Workspaces`. */
export interface BranchUpdater {
  /** What a merge would conflict in, as branch and base are now. What is uncommitted is left out. */
  conflicts(
    ref: Pick<MergeRequest, 'repo_path' | 'branch' | 'base_branch' | 'strategy'>,
    options: Cancellable,
  ): Promise<MergeConflicts>
  /** Brings the base into the branch, and its worktree follows; what is uncommitted there is committed first. */
  updateBranch(request: UpdateRequest, options: Cancellable): Promise<UpdateResult>
}
