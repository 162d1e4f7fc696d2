import { randomBytes } from 'node:crypto'
import { createJobApi, createRunnerTokens } from './api/job-api.ts'
import { createJobGit } from './api/job-git.ts'
import { worktreeAt } from './core/workspace-of.ts'
import { createArrivals } from './git/create-arrivals.ts'
import { createJobs } from './jobs/jobs.ts'
import type { Elsewhere } from './places/remote/remote-place.ts'
import type { AppConfig } from './platform/config/config.ts'
import type { Logger } from './platform/logging/log.ts'
import type { Clock } from './ports/clock.ts'
import type { Store } from './ports/store.ts'
import type { Server, ServerOptions } from './server/create-server.ts'

interface ElsewhereParts {
  readonly store: Store
  readonly clock: Clock
  readonly newId: () => string
  readonly log: Logger
}

/**
 * Creates what runners elsewhere share: their jobs, their tokens and where their work arrives. Connections by their
 * links are closed until there is a server.
 */
export function createElsewhere(
  { dataDir, runnerProgram }: AppConfig,
  { store, clock, newId, log }: ElsewhereParts,
): Elsewhere & {
  /** For the server, which `servedBy` tells of. */
  readonly doors: Pick<ServerOptions, 'jobs' | 'jobGit'>
  servedBy(server: Pick<Server, 'acceptRunner'>): void
} {
  const secret = (kind: string) => () => `${kind}_${randomBytes(32).toString('base64url')}`
  const ownLog = log.child({ module: 'runners' })
  let server: Pick<Server, 'acceptRunner'> | null = null
  const jobs = createJobs({ clock, newId, newToken: secret('job') })
  const tokens = createRunnerTokens(secret('runner'))
  const arrivals = createArrivals({ dataDir, clock, log: ownLog })
  return {
    jobs,
    tokens,
    arrivals,
    doors: { jobs: createJobApi(jobs, tokens), jobGit: createJobGit({ access: jobs, arrivals }) },
    worktreeAt: (path) => worktreeAt(store.read, path),
    program: runnerProgram,
    onConnection: (connection, runner_id) => {
      if (server) server.acceptRunner(connection, runner_id)
      else connection.destroy()
    },
    servedBy: (own) => (server = own),
    log: ownLog,
  }
}
