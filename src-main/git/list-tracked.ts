import { branchRef } from './commands/branch.ts'
import { runGit, splitNul } from './commands/run-git.ts'
import type { Cancellable } from '../ports/cancellable.ts'

/** Number of cached listings, because typing asks for the same one repeatedly. */
const maxCached = 4
/** Enough for the paths of a very large tree. */
const maxOutput = 256 * 1024 * 1024

/** Lists the paths that a branch tracks; caches by tree. */
export function createTrackedPaths() {
  const known = new Map<string, Promise<readonly string[]>>()
  return async (repo: string, branch: string, { signal }: Cancellable): Promise<readonly string[]> => {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${branchRef(branch)}^{tree}`]
    const { exit_code, stdout } = await runGit(repo, args, { signal, accept: [0, 1, 128] })
    if (exit_code !== 0) return []
    const tree = stdout.toString('utf8').trim()
    const before = known.get(tree)
    // Newest last, so that the first is evicted.
    known.delete(tree)
    // A caller that gives up must not cancel the listing for the callers that still wait.
    const paths = before ?? listTree(repo, tree, { signal: AbortSignal.timeout(30_000) })
    known.set(tree, paths)
    paths.catch(() => known.delete(tree))
    for (const [old] of known) if (known.size > maxCached) known.delete(old)
    return await paths
  }
}

async function listTree(repo: string, tree: string, { signal }: Cancellable): Promise<readonly string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', tree]
  return splitNul((await runGit(repo, args, { signal, maxOutput })).stdout)
}
