import type { Orphan, RemovedOrphan } from '../../src-shared/contract/orphans.ts'
import type { Cancellable } from './cancellable.ts'

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
  /** Lists folders below the workspace root that are not in `known`. */
  orphans(root: string, known: readonly string[]): Promise<readonly string[]>
}
