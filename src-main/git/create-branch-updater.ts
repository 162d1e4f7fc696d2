import { resolve } from 'node:path'
import type { BranchUpdater } from '../ports/branch-updater.ts'
import { requireOwn } from './commands/own-worktree.ts'
import { refuseDataLinks } from './commands/refuse-data-links.ts'
import { listChanged } from './commands/tree-paths.ts'
import { readConflicts } from './merge/merge-into-target.ts'
import { restack } from './merge/restack.ts'
import { updateBranch } from './merge/update-branch.ts'
import { workAsCommit } from './work.ts'
import { asWorkspaceError, folderOf, ofRepository } from './workspace-errors.ts'
import type { GitParts } from './git-parts.ts'

/** Implements updates of a task's branch. Its writes hold the worktree and the repository. */
export function createBranchUpdater({ worktrees, now, perRepository, dataDir }: GitParts): BranchUpdater {
  return {
    conflicts: (ref, { signal }) =>
      ofRepository(ref, { signal }, async () => {
        const work = await workAsCommit(ref, { signal })
        return await readConflicts(ref, work, { signal })
      }),
    updateBranch: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path ?? request.repo_path), async () => {
          if (request.path !== null) await requireOwn(request.path, { signal })
          return await perRepository(request.repo_path, { signal }, () => updateBranch(request, { signal, now }))
        }),
      ),
    restack: (request, { signal, beforeMove }) =>
      asWorkspaceError(
        worktrees.run(folderOf(request), async () => {
          const { path } = request
          if (path !== null) await requireOwn(path, { signal })
          if (path !== null && dataDir !== undefined)
            await refuseDataLinks(dataDir, path, await listChanged(path, { signal }))
          return await perRepository(request.repo_path, { signal }, () => restack(request, { signal, now, beforeMove }))
        }),
      ),
  }
}
