import type { Duplex } from 'node:stream'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { identityOf } from '../../git/commands/identity.ts'
import { findCopies } from '../../git/commands/copied-files.ts'
import { resolveCommit } from '../../git/commands/branch.ts'
import { commonDir } from '../../git/commands/worktree.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { RunnerTokens } from '../../ports/runner-tokens.ts'
import type { Logger } from '../../platform/logging/log.ts'
import type { Arrivals } from '../../ports/arrivals.ts'
import type { Place } from '../../ports/place.ts'
import { createMirror, type TaskWorktree } from './mirror.ts'
import { createRemoteRuns } from './remote-runs.ts'
import { createRemoteScripts } from './remote-scripts.ts'
import { createStartJob, type StartJobParts } from './start-job.ts'

/** What runners elsewhere share. */
export interface Elsewhere {
  readonly jobs: Jobs
  readonly tokens: RunnerTokens
  readonly arrivals: Arrivals
  /** Returns the task's worktree at a path; null if it is none. */
  readonly worktreeAt: (path: string) => TaskWorktree | null
  /** The file of the runner's program. */
  readonly program: string
  /** Takes the connections of a runner and of what it runs. */
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly log: Logger
}

export interface RemotePlaceParts extends Omit<Elsewhere, 'tokens' | 'program' | 'onConnection'> {
  readonly here: Place
  readonly runner: StartJobParts['runner']
  readonly carry?: StartJobParts['carry']
  readonly hasMachinePerJob?: boolean
  /** What holds the runs there; without it no run is contained. */
  readonly containment?: Pick<Place['containment'], 'refusal' | 'effectiveLevel'>
}

/**
 * Returns a runner elsewhere as a place: agents and scripts run there, and the worktree here is kept as the one there,
 * so that diffs, reviews and merges read it as ever.
 */
export function createRemotePlace(parts: RemotePlaceParts): Place {
  const { here, runner, jobs, arrivals, worktreeAt, log } = parts
  const mirror = createMirror({ arrivals, here, log })
  const setUps = new Map<string, readonly string[]>()
  const startJob = createStartJob({
    jobs,
    mirror,
    runner,
    ...(parts.carry && { carry: parts.carry }),
    hasMachinePerJob: parts.hasMachinePerJob === true,
    worktreeAt,
    scratchAt: async (path, { signal }) => ({
      repo_path: await commonDir(path, { signal }),
      base_commit: (await resolveCommit(path, 'HEAD', { signal })) ?? '',
    }),
    userOf: (path, { signal }) => identityOf(path, { signal }),
    setUpOf: (path) => setUps.get(path) ?? [],
    copiesOf: (path, { signal }) => findCopies(path, { signal }),
  })
  return {
    ...here,
    worktrees: {
      ...here.worktrees,
      // They run there, in a new folder.
      ensure: (request, options) => {
        setUps.set(request.path, request.setup_commands)
        return here.worktrees.ensure({ ...request, setup_commands: [] }, options)
      },
    },
    arrivals,
    runs: createRemoteRuns(here.runs, startJob),
    scripts: createRemoteScripts(startJob, runner),
    containment: {
      // Not asked of its machine yet: what names a level is refused, and nothing passes for contained.
      refusal: (level) =>
        level === 'auto' || level === 'none'
          ? null
          : 'Runs on another machine can’t be contained yet. Choose another runner, or no containment.',
      effectiveLevel: (level) => (level === 'auto' ? 'none' : level),
      keepsRefs: () => Promise.resolve(true),
      ...parts.containment,
    },
  }
}
