import { resolve } from 'node:path'
import type { WorktreeLocks } from '../ports/worktree-locks.ts'
import { removeLeftTemporary } from './commands/temporary-folder.ts'
import { removeLeftIndexes } from './commands/worktree-index.ts'
import { removeLeftOverlaps } from './overlaps/overlap-reader.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { removeStaleGitLocks } from './worktree/left-git-locks.ts'
import { holderOf, releaseLock, releaseStale, takeLock } from './worktree/lock.ts'
import type { GitParts } from './git-parts.ts'

/** Implements the lock files of worktrees, one at a time per worktree. */
export function createWorktreeLocks({ worktrees, dataDir, log }: GitParts): WorktreeLocks {
  return {
    lock: (path, lock) => asWorkspaceError(worktrees.run(`lock ${resolve(path)}`, () => takeLock(path, lock))),
    unlock: (path, execution) =>
      asWorkspaceError(worktrees.run(`lock ${resolve(path)}`, () => releaseLock(path, execution))),
    readLock: (path) => asWorkspaceError(holderOf(path)),
    releaseStaleLocks: async (root) => {
      await asWorkspaceError(removeLeftTemporary())
      if (dataDir !== undefined) {
        await asWorkspaceError(removeLeftOverlaps(dataDir))
        await asWorkspaceError(removeLeftIndexes(dataDir))
      }
      const left = await asWorkspaceError(removeStaleGitLocks(root, { signal: new AbortController().signal }))
      if (left.length > 0) log?.warn({ files: left }, 'locks that a killed git left in worktrees were removed')
      return await asWorkspaceError(releaseStale(root))
    },
  }
}
