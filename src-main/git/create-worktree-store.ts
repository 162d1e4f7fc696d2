import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { WorktreeStore } from '../ports/worktree-store.ts'
import { requireOwn } from './commands/own-worktree.ts'
import { isOnBranch } from './elsewhere/settle-head.ts'
import { orNull } from './files/file-errors.ts'
import { measureFolder } from './files/folder-size.ts'
import { putBackBranches, readBranches } from './other-branches.ts'
import { readRepositoryState } from './repository-state.ts'
import { rescueUncommitted } from './rescue/rescue.ts'
import { asWorkspaceError, ofRepository } from './workspace-errors.ts'
import { ensureWorktree } from './worktree/ensure-worktree.ts'
import { absorbNested, readInner, removeNested } from './worktree/inner-repositories.ts'
import { isKnownTo, relinkWorktree, requireRepository } from './worktree/moved-repository.ts'
import { discardWorktree, removeWorktreeSafely } from './worktree/remove-worktree.ts'
import { resetWorktree } from './worktree/reset-worktree.ts'
import { readHead, readWorktreeStatus } from './worktree/worktree-status.ts'
import type { GitParts } from './git-parts.ts'

/** Implements worktrees. */
export function createWorktreeStore({
  repositories,
  worktrees,
  indexes,
  now,
  onSetAside,
  onHookFailed,
  perRepository,
  containment,
}: GitParts): WorktreeStore {
  return {
    ensure: (request, { signal, containment: other }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await requireRepository(request.repo_path, { signal })
          return await ensureWorktree(request, {
            signal,
            now,
            repositories,
            onSetAside,
            onHookFailed,
            containment: other ?? containment,
          })
        }),
      ),
    exists: async (path) => (await orNull(stat(path)))?.isDirectory() ?? false,
    isOnBranch: (path, branch, { signal }) => asWorkspaceError(isOnBranch(path, branch, { signal })),
    size: (path, { signal }) => asWorkspaceError(measureFolder(path, { signal })),
    status: (ref, { signal }) => ofRepository(ref, { signal }, () => readWorktreeStatus(ref, { signal })),
    head: (path, { signal }) => asWorkspaceError(readHead(path, { signal })),
    innerRepositories: (ref, { signal }) => ofRepository(ref, { signal }, () => readInner(ref, { signal })),
    absorbNested: (ref, task, paths, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(resolve(ref.path), () =>
          perRepository(ref.repo_path, { signal }, () =>
            absorbNested(ref, task, paths, { signal, now, reason: 'nested' }),
          ),
        ),
      ),
    removeNested: (ref, task, paths, { signal }) =>
      ofRepository(ref, { signal }, () =>
        worktrees.run(resolve(ref.path), () =>
          perRepository(ref.repo_path, { signal }, () =>
            removeNested(ref, task, paths, { signal, now, reason: 'nested' }),
          ),
        ),
      ),
    repositoryState: (path, { signal, refs }) => asWorkspaceError(readRepositoryState(path, { signal, refs })),
    branches: (path, { signal }) => asWorkspaceError(readBranches(path, { signal })),
    putBackBranches: (path, before, { signal }) => asWorkspaceError(putBackBranches(path, before, { signal })),
    resetWorktree: (path, task, { signal }) =>
      asWorkspaceError(worktrees.run(resolve(path), () => resetWorktree(path, task, { signal, now, repositories }))),
    discard: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await indexes.forget(request.path)
          return await discardWorktree(request, { signal, now, repositories, onSetAside })
        }),
      ),
    rescue: (path, task, { signal }) =>
      asWorkspaceError(
        perRepository(path, { signal }, async () => {
          const git_dir = await requireOwn(path, { signal })
          return (await rescueUncommitted(path, task, { signal, now, reason: 'unknown', git_dir })).ref
        }),
      ),
    remove: (request, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(request.path), async () => {
          await indexes.forget(request.path)
          return await removeWorktreeSafely(request, { signal, now, repositories, onSetAside })
        }),
      ),
    isKnownTo: (repo, path, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then((common) => isKnownTo(common, path))),
    relink: (repo, path, { signal }) =>
      asWorkspaceError(
        worktrees.run(resolve(path), () =>
          perRepository(repo, { signal }, () => relinkWorktree(repo, path, { signal })),
        ),
      ),
  }
}
