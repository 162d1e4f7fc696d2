import { createExecutors } from '../agents/create-executors.ts'
import type { ContainerBoxOptions } from '../containers/container-box.ts'
import { createContainerContainment } from '../containers/create-container-containment.ts'
import { createScripts } from '../hooks/scripts/run-script.ts'
import type { Place } from '../ports/place.ts'

export interface ContainerPlaceOptions extends ContainerBoxOptions {
  readonly here: Place
}

/** What asks for no limits would run on this machine. */
const leastLimits = { level: 'worktree' } as const

/** How long the engine may take to remove what a killed service left. */
const removeLimitMs = 60_000

/** Returns a place whose files are on this machine and whose processes run in containers, each in one of its own. */
export function createContainerPlace({ here, ...options }: ContainerPlaceOptions): Place & AsyncDisposable {
  const { homes, programs, removeRun, removeScript, ...containment } = createContainerContainment(options)
  const runs = createExecutors({ containment, homes, programs })
  const scripts = createScripts({ containment })
  const limit = () => ({ signal: AbortSignal.timeout(removeLimitMs) })
  return {
    ...here,
    containment,
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
