import type { Duplex } from 'node:stream'
import type { ContainmentStatus } from '../../../src-shared/contract/containment.ts'
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
import type { CarriedPorts } from './carried-ports.ts'
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
  /** How a runner's machine can contain runs, as it said last; null before it has. */
  readonly containmentAt: (runner_id: RunnerId) => ContainmentStatus | null
  readonly noteContainment: (runner_id: RunnerId, status: ContainmentStatus) => void
  /** What `auto` means on this service. */
  readonly auto: 'auto' | 'none'
  /** Takes the connections of a runner and of what it runs. */
  readonly onConnection: (connection: Duplex, runner_id: RunnerId) => void
  readonly ports: CarriedPorts
  readonly log: Logger
}

export interface RemotePlaceParts extends Omit<Elsewhere, 'tokens' | 'program' | 'onConnection' | 'noteContainment'> {
  readonly here: Place
  readonly runner: StartJobParts['runner'] & { readonly name: string }
  readonly carry?: StartJobParts['carry']
  readonly hasMachinePerJob?: boolean
  /** What holds the runs there; without it, their machine does, by its own means. */
  readonly containment?: Pick<Place['containment'], 'refusal' | 'effectiveLevel'>
}

/**
 * Returns a runner elsewhere as a place: agents and scripts run there, and the worktree here is kept as the one there,
 * so that diffs, reviews and merges read it as ever.
 */
export function createRemotePlace(parts: RemotePlaceParts): Place {
  const { here, runner, jobs, arrivals, worktreeAt, ports, log } = parts
  const mirror = createMirror({ arrivals, here, log })
  const own = containmentThere(parts)
  /** How the runner holds its runs itself; a pod holds them already. */
  const levelThere: Place['containment']['effectiveLevel'] = parts.containment ? () => 'none' : own.effectiveLevel
  const setUps = new Map<string, readonly string[]>()
  const startJob = createStartJob({
    jobs,
    mirror,
    runner,
    ports,
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
    ports: {
      ...here.ports,
      answeringPorts: (numbers) => Promise.resolve(ports.reached(runner.id, numbers)),
    },
    runs: createRemoteRuns(here.runs, startJob, levelThere),
    scripts: createRemoteScripts(startJob, runner, levelThere),
    // Nothing that runs there reaches the repository here.
    containment: { keepsRefs: () => Promise.resolve(true), ...(parts.containment ?? own) },
  }
}

/** What a runner's machine says of containment. Before it has been heard, it refuses itself what it can't hold. */
function containmentThere({
  runner,
  containmentAt,
  auto,
}: Pick<RemotePlaceParts, 'runner' | 'containmentAt' | 'auto'>): Pick<
  Place['containment'],
  'refusal' | 'effectiveLevel'
> {
  return {
    refusal: (level) => {
      const status = containmentAt(runner.id)
      if (level === 'auto' || level === 'none' || status === null || status.available) return null
      return `Runs on ${runner.name} can’t be contained. ${status.reason ?? ''}`.trimEnd()
    },
    effectiveLevel: (level) => {
      if (level !== 'auto') return level
      return auto === 'auto' && containmentAt(runner.id)?.available === true ? 'worktree' : 'none'
    },
  }
}
