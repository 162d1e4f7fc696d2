import { join } from 'node:path'
import type { ContainmentStatus } from '../../src-shared/contract/containment.ts'
import { createExecutors } from '../agents/create-executors.ts'
import { createAgentHomes } from '../containment/agent-homes.ts'
import { createContainment } from '../containment/create-containment.ts'
import { createDataFolders } from '../containment/data-folders.ts'
import { readMachine } from '../containment/machine.ts'
import { createGitViews } from '../git/view/git-views.ts'
import { createScripts } from '../hooks/scripts/run-script.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { defaultDataDir } from '../platform/config/paths.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { BoxRequest, Containment } from '../ports/containment.ts'
import type { Executors } from '../ports/executors.ts'
import type { Scripts } from '../ports/scripts.ts'

/** What runs agents and scripts here, each as contained as its job says. */
export interface ContainedPrograms extends AsyncDisposable {
  readonly runs: Executors
  readonly scripts: Scripts
  /** Says how this machine can contain runs. */
  containment(): ContainmentStatus
  /** Takes over what runs have committed so far in a worktree. */
  takeOver(worktree: string): Promise<void>
}

export interface ContainedOptions {
  /** The runner's folder, in which runs see nothing but their worktree. */
  readonly folder: string
  /** Where the commits of runs are until they are taken over: no other program may have it. */
  readonly own: string
  /** Where runs reach the service. */
  readonly url: () => string
  readonly log: Logger
}

export function createContainedPrograms({ folder, own, url, log }: ContainedOptions): ContainedPrograms {
  const status = createStatus()
  const views = createGitViews({ dataDir: own, log })
  const made = createContainment({
    dataDir: folder,
    otherData: createDataFolders(folder, defaultDataDir(process.env, process.platform)),
    workspaceRoot: join(folder, 'tasks'),
    credentials: () => [],
    // The service says of each job whether it is contained.
    auto: 'none',
    apiUrl: () => (isLoopbackHost(new URL(url()).hostname) ? url() : null),
    machine: status,
    views,
    log,
  })
  const containment: Containment = {
    ...made,
    box: (request) => made.box({ ...request, hosts: [...(request.hosts ?? []), ...serviceHost(url(), request)] }),
  }
  const homes = createAgentHomes({ dataDir: folder })
  return {
    runs: createExecutors({ containment, homes }),
    scripts: createScripts({ containment }),
    containment: status,
    takeOver: (worktree) => views.takeOver(worktree),
    [Symbol.asyncDispose]: () => made.close(),
  }
}

/** A service beyond this machine is reached by its name, as the hosts that a run may reach. */
function serviceHost(url: string, { level }: Pick<BoxRequest, 'level'>): readonly string[] {
  const { hostname, host } = new URL(url)
  return level === 'worktree_and_hosts' && !isLoopbackHost(hostname) ? [host] : []
}

/** What is missing may be installed while the program runs. */
const recheckMs = 60_000

function createStatus(): () => ContainmentStatus {
  let known: ContainmentStatus | null = null
  let readAt = 0
  return () => {
    if (known === null || (!known.available && performance.now() - readAt > recheckMs)) {
      known = machineStatus()
      readAt = performance.now()
    }
    return known
  }
}

/** Says how this machine can contain runs, in words for people elsewhere. */
export function machineStatus(): ContainmentStatus {
  const { reason, ...status } = readMachine()
  return { ...status, reason: reason?.replace(', then restart Copse', ' there') ?? null }
}
