import type { LineChanger } from '../ports/line-changer.ts'
import { requireOwn } from './commands/own-worktree.ts'
import { refuseDataLinks } from './commands/refuse-data-links.ts'
import { listChanged } from './commands/tree-paths.ts'
import { refuseOtherBranch } from './merge/merge-into-target.ts'
import { applyLines, readLines } from './suggested-lines.ts'
import { folderOf, ofRepository } from './workspace-errors.ts'
import type { GitParts } from './git-parts.ts'

/** Implements changes of lines for a person. */
export function createLineChanger({ worktrees, perRepository, dataDir }: GitParts): LineChanger {
  return {
    lines: (ref, place, { signal }) => ofRepository(ref, { signal }, () => readLines(ref, place, { signal })),
    applyLines: (request, { signal }) =>
      ofRepository(request, { signal }, () =>
        worktrees.run(folderOf(request), async () => {
          const { path } = request
          if (path !== null) {
            await requireOwn(path, { signal })
            await refuseOtherBranch(request, { signal })
            if (dataDir !== undefined) await refuseDataLinks(dataDir, path, await listChanged(path, { signal }))
          }
          return await perRepository(request.repo_path, { signal }, () => applyLines(request, { signal }))
        }),
      ),
  }
}
