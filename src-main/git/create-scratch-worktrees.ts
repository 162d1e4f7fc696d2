import type { ScratchWorktrees } from '../ports/scratch-worktrees.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { createScratch, removeStaleScratch } from './worktree/scratch-worktree.ts'
import type { GitParts } from './git-parts.ts'

/** Implements worktrees that belong to no task. */
export function createScratchWorktrees({ repositories, onLeft }: GitParts): ScratchWorktrees {
  return {
    withScratch: async (request, use, { signal }) => {
      await using scratch = await asWorkspaceError(createScratch(request, { signal, repositories, onLeft }))
      return await use(scratch.path)
    },
    removeStaleScratch: (root, before) => asWorkspaceError(removeStaleScratch(root, before, { repositories, onLeft })),
  }
}
