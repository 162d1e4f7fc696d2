import type { ProjectGround } from './project-ground.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { ConfiguredPrograms } from '../ports/repository-reader.ts'
import { repoPathsOf } from '../core/repo-paths.ts'
import type { TrustedRepositoryQueries } from '../ports/project-queries.ts'

type Trusting = Pick<ProjectGround, 'feed' | 'repositories'>

/** Lets git run the programs that a repository configures now, but none that it adds later. */
export async function trustRepository(
  { feed, repositories }: Trusting,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await repositories.programs(path, { signal })
  feed.commit((tx) => {
    tx.trusted_repositories.put({ ...found, trusted_at: tx.now() })
  })
}

/** Adds the hooks as they are to a record from before hooks were recorded; what else it trusts stays. */
function trustHooks(
  { feed }: Trusting,
  known: NonNullable<ReturnType<TrustedRepositoryQueries['get']>>,
  found: ConfiguredPrograms,
): void {
  const hooks = Object.entries(found).filter(([name]) => name === 'hooks' || name.startsWith('hook '))
  feed.commit((tx) => {
    tx.trusted_repositories.put({ ...known, programs: { ...known.programs, ...Object.fromEntries(hooks) } })
  })
}

/** Trusts, as they are, repositories that were added before trust was recorded. */
export async function trustKnownRepositories(context: ProjectGround): Promise<void> {
  const { signal } = new AbortController()
  const { read } = context.store
  for (const path of repoPathsOf(read)) {
    try {
      const found = await context.repositories.programs(path, { signal })
      const known = read.trusted_repositories.get(found.common)
      if (known === null) await trustRepository(context, path, signal)
      else if (known.programs['hooks'] === undefined) trustHooks(context, known, found.programs)
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      context.log.warn({ err: error, path }, 'it could not be seen which programs a repository makes git run')
    }
  }
}
