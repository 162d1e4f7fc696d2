import type { Orphan, RemovedOrphan } from '../../src-shared/contract/orphans.ts'
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

/** Folders below the workspace root that belong to no task. */
export interface OrphanStore {
  /** Returns null if the folder is gone. */
  describeOrphan(path: string, options: Cancellable): Promise<Orphan | null>
  /**
   * Removes a folder after it rescues what no branch has. The files of a folder without git are saved in
   * `fallback_repo`; without one it refuses (`not_a_git_repository`).
   */
  removeOrphan(path: string, fallback_repo: string | null, options: Cancellable): Promise<RemovedOrphan>
  /** Returns whether two paths belong to the same repository. */
  sameRepository(one: string, other: string, options: Cancellable): Promise<boolean>
  /** Returns the commit where a worktree's branch left its base, or null without a common commit. */
  forkPoint(path: string, base_branch: string, options: Cancellable): Promise<string | null>
}
