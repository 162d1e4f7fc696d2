import { resolve } from 'node:path'
import type { WorkKeeper } from '../ports/work-keeper.ts'
import { commitEverything } from './commands/commit.ts'
import { requireOwn } from './commands/own-worktree.ts'
import { refuseDataLinks } from './commands/refuse-data-links.ts'
import { changedPaths, listChanged } from './commands/tree-paths.ts'
import { refuseOtherBranch } from './merge/merge-into-target.ts'
import { commitWork, readWork } from './work.ts'
import { asWorkspaceError, folderOf, ofRepository } from './workspace-errors.ts'
import type { GitParts } from './git-parts.ts'

/** Implements reading and committing a task's work. */
export function createWorkKeeper({ worktrees, shown, dataDir }: GitParts): WorkKeeper {
  return {
    work: (ref, { signal }) => ofRepository(ref, { signal }, () => readWork(ref, { signal })),
    changedFiles: (ref, before, now, { signal }) =>
      ofRepository(ref, { signal }, () => shown.changed(ref.path ?? ref.repo_path, before, now, { signal })),
    commitWork: (ref, work, message, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(folderOf(ref), async () => {
          if (ref.path !== null) await requireOwn(ref.path, { signal })
          await refuseOtherBranch(ref, { signal })
          if (ref.path !== null && dataDir !== undefined) {
            const changes = await changedPaths(ref.path, work.head, work.tree, { signal })
            await refuseDataLinks(
              dataDir,
              ref.path,
              changes.map(({ key }) => key),
            )
          }
          return await commitWork(ref, work, message, { signal })
        }),
      ),
    commitAll: (path, message, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), async () => {
          await requireOwn(path, { signal })
          if (dataDir !== undefined) {
            await refuseDataLinks(dataDir, path, await listChanged(path, { signal }))
          }
          return await commitEverything(path, message, { signal })
        }),
      ),
  }
}
