import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentHomes } from '../ports/agent-homes.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { ContainmentUnavailable, type Containment } from '../ports/containment.ts'
import { containInContainer, type ContainerBoxOptions } from './container-box.ts'
import { installationLabel, jobLabel, processLabel } from './container-args.ts'
import { installationOf, keptFolder, noSocat, prepareGround } from './ground.ts'
import type { Ground } from './ground-parts.ts'
import { removeContainers } from './leftovers.ts'
import { lookIntoImage, type ImagePrograms } from './image-programs.ts'
import { copySocat, type SocatCopy } from './socat-copy.ts'

export interface ContainerContainment extends Pick<
  Containment,
  'effectiveLevel' | 'refusal' | 'keepsRefs' | 'pathProblem' | 'box' | 'close'
> {
  /** The kept home of each agent on this runner. */
  readonly homes: Pick<AgentHomes, 'folderOf'>
  /** The programs in the runner's image and tools. */
  readonly programs: ImagePrograms
  /** Removes what a killed service left of a run. */
  removeRun(execution_id: string, options: Cancellable): Promise<void>
  /** Removes what a killed service left of a script. */
  removeScript(processMarker: string, options: Cancellable): Promise<void>
}

/** What a container stands on, and the program that leads out of it. */
interface Prepared {
  readonly ground: Ground
  readonly socat: SocatCopy | null
}

/** Contains each program that a runner starts in a container of its own. */
export function createContainerContainment(options: ContainerBoxOptions): ContainerContainment {
  const { runner, dataDir, log } = options
  const { network } = runner.config
  const kept = keptFolder(dataDir, runner.id)
  const closing = new AbortController()
  let preparing: Promise<Prepared> | undefined
  const prepare = async (): Promise<Prepared> => {
    const { signal } = closing
    const ground = await prepareGround(options, { signal })
    return { ground, socat: await copySocat(join(dataDir, 'runners', 'socat'), { signal }) }
  }
  /** Runs may start in parallel and share one look; what failed is tried again. */
  const prepared = (): Promise<Prepared> =>
    (preparing ??= prepare().catch((error: unknown) => {
      preparing = undefined
      throw error
    }))
  const refusal: Containment['refusal'] = (level) => {
    if (network === 'hosts') return hostsRefusal
    return level === 'worktree_and_hosts' && network === 'open' ? openRefusal : null
  }
  const remove = async (labels: Readonly<Record<string, string>>, { signal }: Cancellable): Promise<void> => {
    const { ground } = await prepared()
    await removeContainers(ground.client, { ...labels, [installationLabel]: installationOf(dataDir) }, { signal, log })
  }
  return {
    effectiveLevel: () => (network === 'open' ? 'worktree' : 'worktree_and_hosts'),
    refusal,
    keepsRefs: (cwd) => options.views.isPossible(cwd),
    pathProblem: options.pathProblem,
    box: async (request) => {
      const why = refusal(request.level)
      if (why !== null) throw new ContainmentUnavailable(why)
      const parts = await prepared()
      if (network !== 'open' && parts.socat === null) {
        // It may be installed by the next run.
        preparing = undefined
        throw new ContainmentUnavailable(noSocat)
      }
      return {
        contain: (command) => containInContainer(options, parts, request, command),
        // Nothing is denied in a container: what it must not reach is not there.
        onOutput: () => undefined,
        allowHost: () => undefined,
      }
    },
    homes: {
      folderOf: async (agent) => {
        const home = join(kept, 'homes', agent)
        await mkdir(home, { recursive: true, mode: 0o700 })
        return home
      },
    },
    programs: lookIntoImage({ runner, dataDir, ground: async () => (await prepared()).ground }),
    removeRun: (execution_id, cancellable) => remove({ [jobLabel]: execution_id }, cancellable),
    removeScript: (processMarker, cancellable) => remove({ [processLabel]: processMarker }, cancellable),
    close: async () => {
      closing.abort()
      await preparing?.catch(() => undefined)
    },
  }
}

const openRefusal =
  'This runner’s containers reach any host. Choose the network “none” for it, or another runner, to limit hosts.'
const hostsRefusal = 'Containers can’t be limited to listed hosts yet. Choose the network “open” or “none”.'
