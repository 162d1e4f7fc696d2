import type { BranchPusher } from '../ports/branch-pusher.ts'
import { isAncestor } from './commands/branch.ts'
import { readConfig } from './commands/run-git.ts'
import type { GitParts } from './git-parts.ts'
import { deleteRemoteBranch, fetchBranch, pushCommit, readRemoteHead, type SilenceLimits } from './push/exchange.ts'
import { readRemotes } from './push/remotes.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { requireRepository } from './worktree/moved-repository.ts'

const usualLimits: SilenceLimits = { look_ms: 60_000, push_ms: 300_000 }

/** Implements the exchange of branches with forges. */
export function createBranchPusher(
  { perRepository }: Pick<GitParts, 'perRepository'>,
  limits: SilenceLimits = usualLimits,
): BranchPusher {
  return {
    remotes: (repo, { signal }) =>
      asWorkspaceError(
        requireRepository(repo, { signal }).then(async (common) =>
          readRemotes(await readConfig({ common, git_dir: common }, { signal })),
        ),
      ),
    head: (request, { signal }) => asWorkspaceError(readRemoteHead(request, { signal, limits })),
    fetch: (request, { signal }) =>
      asWorkspaceError(
        fetchBranch(request, {
          signal,
          limits,
          perRepository: (work) => perRepository(request.repo_path, { signal }, work),
        }),
      ),
    push: (request, { signal }) => asWorkspaceError(pushCommit(request, { signal, limits })),
    delete: (request, { signal }) => asWorkspaceError(deleteRemoteBranch(request, { signal, limits })),
    relation: (repo, ours, theirs, { signal }) =>
      asWorkspaceError(
        (async () => {
          if (ours === theirs) return 'same'
          if (await isAncestor(repo, theirs, ours, { signal })) return 'ahead'
          return (await isAncestor(repo, ours, theirs, { signal })) ? 'behind' : 'diverged'
        })(),
      ),
  }
}
