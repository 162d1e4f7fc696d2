import { createExecutors } from '../agents/create-executors.ts'
import {
  createContainerContainment,
  type ContainerContainmentOptions,
} from '../containers/create-container-containment.ts'
import { createScripts } from '../hooks/scripts/run-script.ts'
import type { Place } from '../ports/place.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { createContainerPorts } from './container-ports.ts'
import type { CarriedPorts } from './remote/carried-ports.ts'

export interface ContainerPlaceOptions extends Omit<ContainerContainmentOptions, 'reachInto'> {
  readonly here: Place
  /** Where what listens in containers is reached. */
  readonly ports: Pick<CarriedPorts, 'opened' | 'ofWorktree' | 'reached'>
}

/** What asks for no limits would run on this machine. */
const leastLimits = { level: 'worktree' } as const

/** How long the engine may take to remove what a killed service left. */
const removeLimitMs = 60_000

/** Returns a place whose files are on this machine and whose processes run in containers, each in one of its own. */
export function createContainerPlace({ here, ports, ...options }: ContainerPlaceOptions): Place & AsyncDisposable {
  const runner_id = options.runner.id as RunnerId
  const { homes, programs, removeRun, removeScript, neededTrust, ...containment } = createContainerContainment({
    ...options,
    reachInto: createContainerPorts(runner_id, ports, options.log),
  })
  const runs = createExecutors({ containment, homes, programs })
  const scripts = createScripts({ containment })
  const limit = () => ({ signal: AbortSignal.timeout(removeLimitMs) })
  return {
    ...here,
    containment,
    ports: { ...here.ports, answeringPorts: (numbers) => Promise.resolve(ports.reached(runner_id, numbers)) },
    ...(options.runner.config.devcontainer === true && {
      neededTrust: async ({ project_id, ...start }, cancellable) => {
        const { repo_path } = start
        const commit = await options.bases.files.commitOf(start, cancellable)
        return commit === null ? null : await neededTrust({ project_id, repo_path, commit }, cancellable)
      },
    }),
    worktrees: {
      ...here.worktrees,
      ensure: (request, { signal }) =>
        here.worktrees.ensure({ containment: leastLimits, ...request }, { signal, containment }),
    },
    runs: {
      ...runs,
      // Its processes first, which are this user's, so that they may save what they do.
      reap: async (process, execution_id) => {
        await runs.reap(process, execution_id)
        await removeRun(execution_id, limit())
      },
    },
    scripts: {
      run: (script, cancellable) => scripts.run({ containment: leastLimits, ...script }, cancellable),
      reap: async (processMarker) => {
        await scripts.reap(processMarker)
        await removeScript(processMarker, limit())
      },
    },
    [Symbol.asyncDispose]: containment.close,
  }
}
