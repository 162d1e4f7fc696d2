import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NeededTrust } from '../../../src-shared/contract/runner-trust.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { BaseCommit, ProjectBases } from '../../ports/base-files.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ContainmentUnavailable } from '../../ports/containment.ts'
import type { ContainerBoxOptions, Prepared } from '../container-box.ts'
import { askEngine } from '../engine-client.ts'
import { installationOf, openEngine, withTools } from '../ground.ts'
import type { Engine, Ground } from '../ground-parts.ts'
import { buildImage, withOwnIds } from './build-image.ts'
import { MetadataList, variablesIn, wantsOf, type Metadata } from './config.ts'
import { readDefinition, trustHash, type Definition } from './definition.ts'
import { environmentOf } from './environment.ts'
import { removeWorktreeImages } from './old-images.ts'
import { makeWorktreeImage } from './worktree-image.ts'

export interface DevGroundOptions extends ContainerBoxOptions {
  readonly bases: ProjectBases
}

/** The dev containers of a runner: each project's own, made ready for each worktree. */
export interface DevGrounds {
  /** Makes sure of the dev container of a worktree. Throws `ContainmentUnavailable` with what to do. */
  prepare(cwd: string, socat: Prepared['socat'], options: Cancellable): Promise<Prepared>
  /** Returns what an admin has to trust before a project's dev container can be used; null if nothing. */
  neededTrust(base: BaseCommit, options: Cancellable): Promise<NeededTrust | null>
  /** Resolves once nothing is prepared any longer. */
  close(): Promise<void>
}

/** What a worktree's containers are made of, besides what has to be looked at for each. */
interface ReadyWorktree extends BuiltImage {
  readonly ground: Ground
}

/** What a built image says. */
interface BuiltImage {
  readonly metadata: readonly Metadata[]
  readonly user: string
}

export function createDevGrounds(options: DevGroundOptions): DevGrounds {
  const { runner, dataDir, bases } = options
  const installation = installationOf(dataDir)
  const ready = new Map<string, { readonly image: string; readonly preparing: Promise<ReadyWorktree> }>()
  const imageOf = ({ key }: Definition): string => `localhost/copse-dev/${installation}:${key}`

  const trustFor = (definition: Definition, built: BuiltImage | null): NeededTrust | null => {
    const { base, path, config } = definition
    const wants = wantsOf(config, built?.metadata ?? [])
    const sha256 = trustHash(definition, wants)
    if (wants.length === 0 || bases.isTrusted(runner.id, base.project_id, sha256)) return null
    const { id, name } = runner
    return { runner_id: id as RunnerId, runner: name, project_id: base.project_id, path, sha256, wants: [...wants] }
  }
  const requireTrust = (definition: Definition, built: BuiltImage | null): void => {
    const needed = trustFor(definition, built)
    if (needed !== null) throw new ContainmentUnavailable(untrusted(needed))
  }
  /** Looks at the image of a definition; null if it is not built. */
  const look = async ({ client }: Engine, definition: Definition, signal: AbortSignal): Promise<BuiltImage | null> => {
    const format = '{{json .Config}}'
    const answer = await askEngine(client, ['image', 'inspect', '--format', format, imageOf(definition)], { signal })
    if (answer.exit_code !== 0) return null
    const config = parseJson(answer.stdout) as { User?: string; Labels?: Record<string, string> | null } | undefined
    const label = config?.Labels?.['devcontainer.metadata'] ?? '[]'
    const value = parseJson(label)
    const { data } = MetadataList.safeParse(Array.isArray(value) ? value : [value])
    if (data === undefined)
      throw new ContainmentUnavailable(
        `The image of ${definition.path} has a label devcontainer.metadata that can’t be read.`,
      )
    return { user: config?.User ?? '', metadata: data }
  }
  const ensureBuilt = async (engine: Engine, definition: Definition, signal: AbortSignal): Promise<BuiltImage> => {
    const known = await look(engine, definition, signal)
    requireTrust(definition, known)
    if (known !== null) return known
    const { config } = definition
    await buildImage(
      {
        ...options,
        definition,
        client: engine.client,
        image: imageOf(definition),
        variables: variablesIn(wantsOf(config, [])),
      },
      { signal },
    )
    const built = await look(engine, definition, signal)
    if (built === null) throw new ContainmentUnavailable(`${definition.path} was built, but its image is not there.`)
    // Features and images can want more than the configuration says.
    requireTrust(definition, built)
    return built
  }
  const prepareFor = async (
    cwd: string,
    mark: string,
    definition: Definition,
    socat: Prepared['socat'],
    signal: AbortSignal,
  ): Promise<ReadyWorktree> => {
    const engine = await openEngine(runner.config, { signal })
    const built = await ensureBuilt(engine, definition, signal)
    const { metadata, user: imageUser } = built
    const dev = environmentOf({ config: definition.config, metadata, imageUser, cwd })
    const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const isOther = ids.uid !== 0 && !['root', '0', String(ids.uid)].includes(dev.user) && !/^\d+$/.test(dev.user)
    const wantsIds =
      isOther && metadata.findLast((one) => one.updateRemoteUserUID !== undefined)?.updateRemoteUserUID !== false
    const shared = imageOf(definition)
    const image = wantsIds
      ? await withOwnIds(
          engine.client,
          { image: shared, user: dev.user, imageUser: imageUser || 'root', ids },
          { signal },
        )
      : shared
    const ground = await withTools({ ...engine, image, tools: null }, options, { signal })
    if (dev.creation === '') return { ...built, ground }
    const own = `${shared}-${mark}`
    const known = await askEngine(engine.client, ['image', 'inspect', own], { signal })
    if (known.exit_code !== 0) {
      const fresh: Ground = { ...ground, dev: { ...dev, starts: '' } }
      await makeWorktreeImage(options, { ground: fresh, socat }, { cwd, script: dev.creation, image: own }, { signal })
      await removeWorktreeImages(engine.client, installation, { cwd, image: own }, { signal })
    }
    return { ...built, ground: { ...ground, image: own } }
  }
  const readyFor = async (cwd: string, definition: Definition, socat: Prepared['socat'], signal: AbortSignal) => {
    const mark = await markOf(cwd)
    const image = `${imageOf(definition)}-${mark}`
    const known = ready.get(cwd)
    if (known?.image === image) return await known.preparing
    const preparing = prepareFor(cwd, mark, definition, socat, signal)
    ready.set(cwd, { image, preparing })
    try {
      return await preparing
    } catch (error) {
      // Another start tries again: what was missing may be there by then.
      if (ready.get(cwd)?.preparing === preparing) ready.delete(cwd)
      throw error
    }
  }
  return {
    prepare: async (cwd, socat, { signal }) => {
      const base = await bases.of(cwd, { signal })
      if (base === null) throw new ContainmentUnavailable(`${cwd} belongs to no project, so it has no dev container.`)
      const definition = await readDefinition(bases.files, base, { signal })
      const { ground, metadata, user: imageUser } = await readyFor(cwd, definition, socat, signal)
      // Where a branch has put links is looked at for each container.
      const dev = environmentOf({ config: definition.config, metadata, imageUser, cwd })
      return { ground: { ...ground, dev }, socat }
    },
    neededTrust: async (base, { signal }) => {
      const definition = await readDefinition(bases.files, base, { signal })
      // A run can wait for an engine that isn't there, and is asked about what the configuration says.
      const engine = await openEngine(runner.config, { signal }).catch((error: unknown) => {
        if (!(error instanceof ContainmentUnavailable)) throw error
        return null
      })
      return trustFor(definition, engine && (await look(engine, definition, signal)))
    },
    close: async () => void (await Promise.allSettled([...ready.values()].map(({ preparing }) => preparing))),
  }
}

/** Returns what tells a worktree from a later one at its path. */
async function markOf(cwd: string): Promise<string> {
  const { ino, birthtimeMs } = await stat(join(cwd, '.git'))
  return createHash('sha256')
    .update(JSON.stringify([cwd, ino, birthtimeMs]))
    .digest('hex')
    .slice(0, 12)
}

/** Says what waits for an admin, for starts that no one sees. */
function untrusted({ runner, path, wants }: NeededTrust): string {
  const texts = wants.map(({ kind, text }) => `${kind} ${text}`)
  return `${path} wants to reach the machine of ${runner}: ${texts.join('; ')}. An admin must trust it: start the task again to be asked.`
}
