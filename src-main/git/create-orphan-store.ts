import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { OrphanStore } from '../ports/orphan-store.ts'
import { mergeBase, resolveBase } from './commands/branch.ts'
import { commonDir } from './commands/worktree.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { describeOrphan, findOrphans, removeOrphan } from './worktree/orphans.ts'
import type { GitParts } from './git-parts.ts'

/** Implements folders that belong to no task. */
export function createOrphanStore({ repositories, worktrees, now, onSetAside }: GitParts): OrphanStore {
  return {
    orphans: (root, known) => asWorkspaceError(findOrphans(root, known)),
    describeOrphan: (path, { signal }) => asWorkspaceError(describeOrphan(path, { signal })),
    removeOrphan: (path, fallback, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), () => removeOrphan(path, fallback, { signal, now, repositories, onSetAside })),
      ),
    sameRepository: (one, other, { signal }) => asWorkspaceError(isSameRepository(one, other, { signal })),
    forkPoint: (path, base, { signal }) => asWorkspaceError(forkPoint(path, base, { signal })),
  }
}

async function isSameRepository(one: string, other: string, { signal }: Cancellable): Promise<boolean> {
  const [first, second] = await Promise.all([commonDir(one, { signal }), commonDir(other, { signal })])
  return (await realpath(first)) === (await realpath(second))
}

async function forkPoint(path: string, baseBranch: string, { signal }: Cancellable): Promise<string | null> {
  const base = await resolveBase(path, baseBranch, { signal })
  return base === null ? null : await mergeBase(path, base, 'HEAD', { signal })
}
