import type { Rescue, RestoredRescue } from '../../src-shared/contract/rescues.ts'
import type { Cancellable } from './cancellable.ts'
import type { FileDiff } from './diff-reader.ts'

/** Names one rescue of a repository. */
export interface RescueName {
  readonly repo_path: string
  readonly task_id: string
  readonly timestamp: string
}

/** Rescues of a repository. Refs that can't be a rescue's are left alone. */
export interface RescueStore {
  /** Newest first; with `task_id`, only those of one task. */
  rescues(repo_path: string, task_id: string | null, options: Cancellable): Promise<readonly Rescue[]>
  /**
   * Returns what a rescue changed, against its parent or the point where its commits left the branches; with `file`,
   * of that file alone.
   */
  rescueDiff(
    rescue: Pick<Rescue, 'repo_path' | 'commit' | 'kind'>,
    file: string | null,
    options: Cancellable,
  ): Promise<FileDiff>
  /**
   * Restores a rescue; returns null if there is none of that name. Into a worktree it writes only files that don't
   * differ there, and overwrites nothing. `branch` names a new branch, with a number added if taken.
   */
  restoreRescue(
    name: RescueName,
    into: { readonly path: string | null; readonly why_not: 'no_worktree' | 'busy'; readonly branch: string },
    options: Cancellable,
  ): Promise<RestoredRescue | null>
  /** Returns whether the rescue existed. */
  deleteRescue(name: RescueName, options: Cancellable): Promise<boolean>
  /** Deletes rescues made before `before` (ms since the epoch) and returns their refs. */
  expireRescues(repo_path: string, before: number, options: Cancellable): Promise<readonly string[]>
}
