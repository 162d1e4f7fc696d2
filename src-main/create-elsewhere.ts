import { createJobApi, createRunnerTokens } from './api/job-api.ts'
import { createJobGit } from './api/job-git.ts'
import type { ContainmentStatus } from '../src-shared/contract/containment.ts'
import type { RunnerId, TaskId } from '../src-shared/contract/ids.ts'
import type { EventFeed } from './core/event-feed.ts'
import { hasWorktree, worktreeAt } from './core/workspace-of.ts'
import { createArrivals } from './git/create-arrivals.ts'
import { createSecret, hashToken } from './identity/opaque-tokens.ts'
import { createJobs, type Jobs } from './jobs/jobs.ts'
import { createCarriedPorts } from './places/remote/carried-ports.ts'
import { rescueLate } from './places/remote/late-work.ts'
import type { Elsewhere } from './places/remote/remote-place.ts'
import type { AppConfig } from './platform/config/config.ts'
import type { Logger } from './platform/logging/log.ts'
import type { Clock } from './ports/clock.ts'
import type { JobQueries } from './ports/job-queries.ts'
import type { RunnerTokens } from './ports/runner-tokens.ts'
import type { Store } from './ports/store.ts'
import type { Server, ServerOptions } from './server/create-server.ts'
import { portsFrom } from './workspaces/rules/port-ranges.ts'

interface ElsewhereParts {
  readonly store: Store
  readonly feed: Pick<EventFeed, 'commit'>
  readonly clock: Clock
  readonly newId: () => string
  readonly log: Logger
}

/**
 * Creates what runners elsewhere share: their jobs, their tokens and where their work arrives. Connections by their
 * links are closed until there is a server.
 */
export function createElsewhere(
  { dataDir, runnerProgram, containment: auto = 'none' }: AppConfig,
  { store, feed, clock, newId, log }: ElsewhereParts,
): Elsewhere & {
  /** For the server, which `start` tells of. */
  readonly doors: Pick<ServerOptions, 'jobs' | 'jobGit'>
  /** Lets runners in, and removes what arrived of tasks that are gone. */
  start(server: Pick<Server, 'acceptRunner'>): Promise<void>
} {
  const secret = (kind: string) => () => `${kind}_${createSecret()}`
  const ownLog = log.child({ module: 'runners' })
  let server: Pick<Server, 'acceptRunner'> | null = null
  const arrivals = createArrivals({ dataDir, clock, log: ownLog })
  const containments = new Map<RunnerId, ContainmentStatus>()
  const made = createJobs({
    clock,
    newId,
    newToken: secret('job'),
    hashToken,
    records: recordsIn({ store, feed }),
    onLate: (task_id) => {
      const signal = AbortSignal.timeout(lateLimitMs)
      arrivals
        .read(task_id, { signal })
        .then((arrived) => arrived && rescueLate(arrivals, task_id, arrived, { signal }))
        .catch((error: unknown) => ownLog.warn({ err: error, task_id }, 'what arrived late was not kept as a rescue'))
    },
  })
  const jobs: Jobs = {
    ...made,
    next: (seeker, report, options) => {
      if (report.containment) containments.set(seeker.runner_id, report.containment)
      return made.next(seeker, report, options)
    },
  }
  const known = createRunnerTokens(secret('runner'))
  const tokens: RunnerTokens = {
    ...known,
    make: (runner_id, job_id) => {
      const { token, end } = known.make(runner_id, job_id)
      const endLink = (): void => {
        end()
        jobs.unlinked({ runner_id, job_id: job_id ?? null })
      }
      return { token, end: endLink }
    },
  }
  return {
    jobs,
    tokens,
    arrivals,
    ports: createCarriedPorts({ log: ownLog, portsFrom }),
    doors: {
      jobs: createJobApi(jobs, tokens, (task_id) => hasWorktree(store.read, task_id)),
      jobGit: createJobGit({ access: jobs, arrivals }),
    },
    worktreeAt: (path) => {
      const found = worktreeAt(store.read, path)
      return found && { ...found, ports: found.port_base === null ? [] : portsFrom(found.port_base) }
    },
    program: runnerProgram,
    containmentAt: (runner_id) => containments.get(runner_id) ?? null,
    noteContainment: (runner_id, status) => void containments.set(runner_id, status),
    auto,
    onConnection: (connection, runner_id) => {
      if (server) server.acceptRunner(connection, runner_id)
      else connection.destroy()
    },
    start: async (own) => {
      server = own
      jobs.start()
      const isGone = (task_id: string) => store.read.tasks.get(task_id as TaskId) === null
      await arrivals
        .removeWhere(isGone)
        .catch((error: unknown) => ownLog.warn({ err: error }, 'what arrived of deleted tasks could not be removed'))
    },
    log: ownLog,
  }
}

const lateLimitMs = 60_000

/** What jobs keep, each change in a transaction of its own. */
function recordsIn({ store, feed }: Pick<ElsewhereParts, 'store' | 'feed'>): JobQueries {
  return {
    ...store.read.jobs,
    put: (record) => feed.commit((tx) => tx.jobs.put(record)),
    deleteOver: (before) => feed.commit((tx) => tx.jobs.deleteOver(before)),
  }
}
