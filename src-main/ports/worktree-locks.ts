import type { ExecutionId } from '../../src-shared/contract/ids.ts'

export interface WorktreeLock {
  readonly execution_id: ExecutionId
  readonly pid: number | null
}

/** Locks of worktrees, each a file in it. */
export interface WorktreeLocks {
  /**
   * Acquires `.svc.lock`; returns the present holder if another live process has it, else null. Re-entrant per
   * execution.
   */
  lock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null>
  unlock(path: string, execution_id: ExecutionId): Promise<void>
  readLock(path: string): Promise<WorktreeLock | null>
  /** Releases lock files below `root` whose process is gone; returns their paths. */
  releaseStaleLocks(root: string): Promise<readonly string[]>
}
