import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { realPath } from '../platform/path-names.ts'
import type { Logger } from '../platform/logging/log.ts'
import { makeTemporary, removeTemporary } from '../platform/process/run-folders.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { ContainmentUnavailable } from '../ports/containment.ts'
import type { ContainerConfig, ContainerRunner } from './container-config.ts'
import type { Engine, Ground } from './ground-parts.ts'
import { containerArgs } from './container-args.ts'
import {
  askEngine,
  findEngines,
  findPodmanAt,
  lastWords,
  NoEngine,
  type EngineClient,
  type Variables,
} from './engine-client.ts'

export interface GroundOptions {
  readonly runner: ContainerRunner
  readonly dataDir: string
  readonly log: Logger
}

const setupLimitMs = 30 * 60_000

/** Returns the label by which all containers of a data folder are found. */
export const installationOf = (dataDir: string): string =>
  createHash('sha256').update(realPath(dataDir)).digest('hex').slice(0, 16)

/** Returns the folder of what a runner keeps. */
export const keptFolder = (dataDir: string, runner_id: string): string => join(dataDir, 'runners', runner_id)

/** Makes sure of the engine: the one that is named, or the first that answers. Throws `ContainmentUnavailable` with what to do. */
export async function openEngine(config: Pick<ContainerConfig, 'engine'>, options: Cancellable): Promise<Engine> {
  if (process.platform !== 'linux')
    throw new ContainmentUnavailable('Containers run where Copse runs on Linux only. Choose another runner.')
  try {
    return await reachEngine(config.engine, options)
  } catch (error) {
    if (!(error instanceof NoEngine)) throw error
    throw new ContainmentUnavailable(error.message, { cause: error })
  }
}

/**
 * Finds the client that reaches an engine, the first that it answers. Throws `NoEngine` where none is installed,
 * `WrongClient`, and `ContainmentUnavailable` where the engine does not answer.
 */
export async function reachEngine(
  engine: ContainerConfig['engine'],
  options: Cancellable,
  inherited: Variables = process.env,
): Promise<Engine> {
  const problems: ContainmentUnavailable[] = []
  for (const client of findEngines(engine, inherited)) {
    try {
      return await reachBy(client, engine, options, inherited)
    } catch (error) {
      if (!(error instanceof ContainmentUnavailable)) throw error
      problems.push(error)
    }
  }
  throw problems[0] ?? new ContainmentUnavailable('No container engine answers.')
}

async function reachBy(
  found: EngineClient,
  engine: ContainerConfig['engine'],
  options: Cancellable,
  inherited: Variables,
): Promise<Engine> {
  const isPodman = /podman/i.test((await askEngine(found, ['--version'], options)).stdout)
  if (isPodman || !(await isServedByPodman(found, options)))
    return { client: found, user: await userArgs(found, isPodman, options) }
  const client = engine?.startsWith('unix://') === true ? findPodmanAt(engine, inherited) : null
  if (client === null) throw new WrongClient(wrongClient)
  return { client, user: await userArgs(client, true, options) }
}

/** Docker's client gets no exit codes from Podman of containers that are removed at their end: it says 0 of each. */
async function isServedByPodman(client: EngineClient, options: Cancellable): Promise<boolean> {
  const answer = await askEngine(client, ['version', '--format', '{{json .Server.Components}}'], options)
  return answer.exit_code === 0 && /podman/i.test(answer.stdout)
}

/** What would say of failed programs that they have succeeded. */
export class WrongClient extends ContainmentUnavailable {}

const wrongClient =
  'Docker’s client reaches Podman here, and is not told how programs end. Choose the engine podman for this runner.'

/** Makes sure of the engine, the image and the tools. Throws `ContainmentUnavailable` with what to do. */
export async function prepareGround(options: GroundOptions, { signal }: Cancellable): Promise<Ground> {
  const { image = '', engine } = options.runner.config
  const { client, user } = await openEngine({ engine }, { signal })
  const found = await askEngine(client, ['image', 'inspect', '--format', '{{.Id}}', image], { signal })
  if (found.exit_code !== 0) throw new ContainmentUnavailable(missingImage(client, image))
  return await withTools({ client, user, image, tools: null }, options, { signal })
}

/** Adds the tools that the runner's setup commands make. Throws `ContainmentUnavailable` if one of them fails. */
export async function withTools(ground: Ground, options: GroundOptions, { signal }: Cancellable): Promise<Ground> {
  if ((options.runner.config.setup ?? []).length === 0) return ground
  return { ...ground, tools: await fillTools(ground, options, signal) }
}

export const noSocat =
  'In a network of its own a container reaches Copse by socat, which is not on this machine. Install it.'

export const missingImage = ({ program }: EngineClient, image: string): string =>
  `The image ${image} is not on this machine. Get it with \`${basename(program)} pull ${image}\`.`

/** Returns the arguments by which a container's files are this user's. Throws `ContainmentUnavailable` without an engine. */
async function userArgs(client: EngineClient, isPodman: boolean, { signal }: Cancellable): Promise<readonly string[]> {
  const own = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`
  const asked = isPodman ? '{{.Host.Security.Rootless}}' : '{{json .SecurityOptions}}'
  const info = await askEngine(client, ['info', '--format', asked], { signal })
  if (info.exit_code !== 0)
    throw new ContainmentUnavailable(`The container engine can’t be reached: ${lastWords(info)}`)
  if (isPodman) return [...(info.stdout.includes('true') ? ['--userns', 'keep-id'] : []), '--user', own]
  // Root in a container of a rootless Docker is the user that it runs as.
  return ['--user', info.stdout.includes('name=rootless') ? '0:0' : own]
}

/** Runs the setup commands once for each set of them and image. Returns the folder of what they made. */
async function fillTools(
  ground: Ground,
  { runner, dataDir, log }: GroundOptions,
  signal: AbortSignal,
): Promise<string> {
  const { setup = [] } = runner.config
  const { image } = ground
  const hash = createHash('sha256')
    .update(JSON.stringify([image, setup]))
    .digest('hex')
    .slice(0, 16)
  const tools = join(keptFolder(dataDir, runner.id), 'tools', hash)
  const done = `${tools}.done`
  if (existsSync(done)) return tools
  // A killed service may have left half of it.
  await rm(tools, { recursive: true, force: true })
  await mkdir(join(tools, 'bin'), { recursive: true, mode: 0o700 })
  const temporary = await makeTemporary()
  const script = 'for command in "$@"; do echo "$ $command"; /bin/sh -c "$command" || exit; done'
  const args = containerArgs(ground, {
    runner,
    installation: installationOf(dataDir),
    job: `setup-${hash}`,
    network: 'open',
    cwd: tools,
    mounts: [
      { from: tools, to: tools, writable: true },
      { from: temporary, to: temporary, writable: true },
    ],
    env: { HOME: temporary, TMPDIR: temporary, SVC_TOOLS_DIR: tools },
  })
  try {
    const command = [...args, '/bin/sh', image, '-c', script, 'sh', ...setup]
    const answer = await askEngine(ground.client, command, { signal, limitMs: setupLimitMs })
    const told = { runner: runner.name, output: `${answer.stdout}${answer.stderr}`, exit_code: answer.exit_code }
    if (answer.exit_code !== 0) {
      log.warn(told, 'the setup of a runner failed')
      const which =
        answer.stdout
          .split('\n')
          .findLast((line) => line.startsWith('$ '))
          ?.slice(2) ?? setup[0]
      throw new ContainmentUnavailable(
        `The runner’s setup command \`${which}\` failed (exit ${answer.exit_code}): ${lastWords(answer)}`,
      )
    }
    log.info(told, 'the setup of a runner is done')
    await writeFile(done, '')
    return tools
  } finally {
    await removeTemporary(temporary)
  }
}
