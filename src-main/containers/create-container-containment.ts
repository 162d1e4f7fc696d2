import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentHomes } from '../ports/agent-homes.ts'
import type { PlacedPrograms } from '../ports/agent-programs.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { ContainmentUnavailable, type Containment } from '../ports/containment.ts'
import type { ProjectBases } from '../ports/base-files.ts'
import { containInContainer, type ContainerBoxOptions, type Prepared } from './container-box.ts'
import { installationLabel, jobLabel, processLabel } from './container-args.ts'
import { installationOf, keptFolder, noSocat, openEngine, prepareGround } from './ground.ts'
import { createDevGrounds, type DevGrounds } from './devcontainer/dev-grounds.ts'
import { removeContainers } from './leftovers.ts'
import { lookIntoImage, type ImagePrograms } from './image-programs.ts'
import { copySocat } from './socat-copy.ts'

export interface ContainerContainment extends Pick<
  Containment,
  'effectiveLevel' | 'refusal' | 'keepsRefs' | 'pathProblem' | 'box' | 'close'
> {
  /** The kept home of each agent on this runner. */
  readonly homes: Pick<AgentHomes, 'folderOf'>
  /** The programs in the runner's image and tools; with dev containers, in those of a worktree. */
  readonly programs: ImagePrograms & PlacedPrograms
  /** Returns what an admin has to trust before the dev container of a project can be used. */
  readonly neededTrust: DevGrounds['neededTrust']
  /** Removes what a killed service left of a run. */
  removeRun(execution_id: string, options: Cancellable): Promise<void>
  /** Removes what a killed service left of a script. */
  removeScript(processMarker: string, options: Cancellable): Promise<void>
}

export interface ContainerContainmentOptions extends ContainerBoxOptions {
  /** What the dev containers of projects are read from. */
  readonly bases: ProjectBases
}

/** Contains each program that a runner starts in a container of its own. */
export function createContainerContainment(options: ContainerContainmentOptions): ContainerContainment {
  const { runner, dataDir, machine, log } = options
  const { network } = runner.config
  const kept = keptFolder(dataDir, runner.id)
  const closing = new AbortController()
  let preparing: Promise<Prepared> | undefined
  const devs = runner.config.devcontainer === true ? createDevGrounds(options) : null
  const { signal: untilClosed } = closing
  const socat = () => copySocat(join(dataDir, 'runners', 'socat'), { signal: untilClosed })
  const prepare = async (): Promise<Prepared> => ({
    ground: await prepareGround(options, { signal: untilClosed }),
    socat: await socat(),
  })
  /** Runs may start in parallel and share one look; what failed is tried again. */
  const preparedAlike = (): Promise<Prepared> =>
    (preparing ??= prepare().catch((error: unknown) => {
      preparing = undefined
      throw error
    }))
  const prepared = async (cwd: string | null): Promise<Prepared> => {
    if (devs === null) return await preparedAlike()
    if (cwd === null)
      throw new ContainmentUnavailable('What a dev container has is known once it is that of a worktree.')
    return await devs.prepare(cwd, await socat(), { signal: untilClosed })
  }
  const programsIn = (cwd: string | null): ImagePrograms =>
    lookIntoImage({ runner, dataDir, ground: async () => (await prepared(cwd)).ground })
  const programs = programsIn(null)
  const refusal: Containment['refusal'] = (level) => {
    if (network === 'hosts') return machine.hostsProblem()
    return level === 'worktree_and_hosts' && network === 'open' ? openRefusal : null
  }
  const remove = async (labels: Readonly<Record<string, string>>, { signal }: Cancellable): Promise<void> => {
    const { client } = await openEngine(runner.config, { signal })
    await removeContainers(client, { ...labels, [installationLabel]: installationOf(dataDir) }, { signal, log })
  }
  return {
    effectiveLevel: () => (network === 'open' ? 'worktree' : 'worktree_and_hosts'),
    refusal,
    keepsRefs: (cwd) => options.views.isPossible(cwd),
    pathProblem: machine.pathProblem,
    box: async (request) => {
      const why = refusal(request.level)
      if (why !== null) throw new ContainmentUnavailable(why)
      const parts = await prepared(request.cwd)
      if (network !== 'open' && parts.socat === null) {
        // It may be installed by the next run.
        preparing = undefined
        throw new ContainmentUnavailable(noSocat)
      }
      const hostWays = network === 'hosts' ? await machine.hostWays(request) : null
      return {
        contain: (command) => containInContainer(options, parts, { request, hostWays }, command),
        // Of paths nothing is denied in a container: what it must not reach is not there.
        onOutput: () => undefined,
        allowHost: (host) => hostWays?.allowHost(host),
      }
    },
    homes: {
      folderOf: async (agent) => {
        const home = join(kept, 'homes', agent)
        await mkdir(home, { recursive: true, mode: 0o700 })
        return home
      },
    },
    programs: { ...programs, in: devs === null ? () => programs : programsIn },
    neededTrust: async (base, cancellable) => (await devs?.neededTrust(base, cancellable)) ?? null,
    removeRun: (execution_id, cancellable) => remove({ [jobLabel]: execution_id }, cancellable),
    removeScript: (processMarker, cancellable) => remove({ [processLabel]: processMarker }, cancellable),
    close: async () => {
      closing.abort()
      await Promise.all([preparing?.catch(() => undefined), devs?.close()])
    },
  }
}

const openRefusal =
  'This runner’s containers reach any host. Choose the network “hosts” or “none” for it, or another runner, to limit hosts.'
