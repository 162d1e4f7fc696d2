import type { EngineContext } from '../core/context.ts'
import { WorkspaceError } from '../ports/workspaces.ts'
import { repoPathsOf } from '../core/repo-paths.ts'

type Trusting = Pick<EngineContext, 'feed' | 'workspaces'>

/** Lets git run the programs that a repository configures now, but none that it adds later. */
export async function trustRepository(
  { feed, workspaces }: Trusting,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await workspaces.programs(path, { signal })
  feed.commit((tx) => {
    tx.trusted_repositories.put({ ...found, trusted_at: tx.now() })
  })
}

/** Trusts, as they are, repositories that were added before trust was recorded. */
export async function trustKnownRepositories(context: EngineContext): Promise<void> {
  const { signal } = new AbortController()
  const { read } = context.store
  for (const path of repoPathsOf(read)) {
    try {
      const found = await context.workspaces.programs(path, { signal })
      if (read.trusted_repositories.get(found.common) === null) await trustRepository(context, path, signal)
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      context.log.warn({ err: error, path }, 'it could not be seen which programs a repository makes git run')
    }
  }
}
