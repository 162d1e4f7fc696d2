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

/** What was kept before something was thrown away. Refs that no rescue can be called are left alone. */
export interface RescueStore {
  /** Newest first; with `task_id`, those of one task. */
  rescues(repo_path: string, task_id: string | null, options: Cancellable): Promise<readonly Rescue[]>
  /** What a rescue holds: against what it lay on, or where its commits left the branches. With `file`, of that alone. */
  rescueDiff(
    rescue: Pick<Rescue, 'repo_path' | 'commit' | 'kind'>,
    file: string | null,
    options: Cancellable,
  ): Promise<FileDiff>
  /**
   * Brings a rescue back; null when there is none of that name. Into the worktree only what its files and the
   * rescue agree on: nothing is overwritten. `branch` is what a new branch is called, with a number if that is taken.
   */
  restoreRescue(
    name: RescueName,
    into: { readonly path: string | null; readonly why_not: 'no_worktree' | 'busy'; readonly branch: string },
    options: Cancellable,
  ): Promise<RestoredRescue | null>
  /** Whether there was one. */
  deleteRescue(name: RescueName, options: Cancellable): Promise<boolean>
  /** Gives up the rescues that were made before this moment (ms); the refs that are gone now. */
  expireRescues(repo_path: string, before: number, options: Cancellable): Promise<readonly string[]>
}

/** Folders below the workspace root that no task knows. */
export interface OrphanStore {
  /** null when it is gone. */
  describeOrphan(path: string, options: Cancellable): Promise<Orphan | null>
  /**
   * Removes a folder, after keeping what no branch has. Of a folder that is no worktree the files are kept in
   * `fallback_repo`; without one it is refused (`not_a_git_repository`).
   */
  removeOrphan(path: string, fallback_repo: string | null, options: Cancellable): Promise<RemovedOrphan>
  /** Whether two paths are folders of the same repository. */
  sameRepository(one: string, other: string, options: Cancellable): Promise<boolean>
  /** Where the branch of a worktree left its base; null when they have nothing in common. */
  forkPoint(path: string, base_branch: string, options: Cancellable): Promise<string | null>
}
