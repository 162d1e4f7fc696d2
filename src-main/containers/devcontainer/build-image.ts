import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Logger } from '../../platform/logging/log.ts'
import { isWithin } from '../../platform/path-names.ts'
import { shellCommand } from '../../platform/process/process-shell.ts'
import type { ProjectBases } from '../../ports/base-files.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ContainmentUnavailable } from '../../ports/containment.ts'
import { askEngine, type EngineClient } from '../engine-client.ts'
import { cliFolder, runCli } from './cli.ts'
import { commandsOf } from './config.ts'
import type { Definition } from './definition.ts'
import { fillIn } from './environment.ts'
import { runToEnd } from './run-to-end.ts'

const buildLimitMs = 30 * 60_000

export interface ImageBuild {
  readonly definition: Definition
  readonly client: EngineClient
  readonly bases: ProjectBases
  /** The name that the image gets. */
  readonly image: string
  /** Names of this machine's variables that the configuration may read. */
  readonly variables: readonly string[]
  readonly log: Logger
}

let last: Promise<unknown> = Promise.resolve()

/** Builds the image of a dev container with its features. Throws `ContainmentUnavailable` with the end of the log. */
export async function buildImage(build: ImageBuild, options: Cancellable): Promise<void> {
  // The CLI has one name for the features of all builds, so that two at a time would mix them up.
  const turn = last.catch(() => undefined).then(() => buildInTurn(build, options))
  last = turn
  await turn
}

async function buildInTurn(
  { definition, client, bases, image, variables, log }: ImageBuild,
  options: Cancellable,
): Promise<void> {
  const { base, path } = definition
  const given = variables.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const env = { ...Object.fromEntries(given), ...engineEnvironment(client) }
  await bases.withCheckout(
    base,
    async (folder) => {
      await removeOutwardLinks(definition, folder, bases, options)
      await initialize(definition, folder, { env, log }, options)
      const args = [
        ...['build', '--workspace-folder', folder, '--config', join(folder, path), '--image-name', image],
        ...['--docker-path', client.program],
        // Podman builds all by itself, and has no BuildKit.
        ...(/podman/i.test(basename(client.program)) ? ['--buildkit', 'never'] : []),
      ]
      const answer = await runCli(args, { env, limitMs: buildLimitMs, ...options })
      const told = { project_id: base.project_id, image, exit_code: answer.exit_code }
      if (answer.exit_code !== 0) {
        const end = endOf(`${answer.stderr}\n${answer.stdout}`)
        log.warn({ ...told, output: answer.stderr }, 'a dev container could not be built')
        throw new ContainmentUnavailable(`The dev container of ${path} could not be built. The log ends with:\n${end}`)
      }
      log.info(told, 'a dev container is built')
    },
    options,
  )
}

/** Returns the environment in which a client reaches its engine without arguments. */
function engineEnvironment({ args, env }: EngineClient): Readonly<Record<string, string>> {
  const [, socket] = args
  return socket === undefined ? env : { ...env, DOCKER_HOST: socket, CONTAINER_HOST: socket }
}

/** Removes links by which a build would read files of this machine. */
async function removeOutwardLinks(
  { base }: Definition,
  folder: string,
  { files }: ProjectBases,
  options: Cancellable,
): Promise<void> {
  const root = await realpath(folder)
  for (const { path, mode } of await files.list(base, [''], options)) {
    if (mode !== '120000') continue
    const target = await realpath(join(folder, path)).catch(() => null)
    if (target === null || !isWithin(target, root)) await rm(join(folder, path), { force: true })
  }
}

/** Runs the commands that a trusted configuration has for this machine, in the checkout and not in a worktree. */
async function initialize(
  { config, path }: Definition,
  folder: string,
  { env, log }: { readonly env: Readonly<Record<string, string>>; readonly log: Logger },
  options: Cancellable,
): Promise<void> {
  await Promise.all(
    commandsOf(config.initializeCommand).map(async (words) => {
      const [file = '', ...args] = typeof words === 'string' ? [] : words.map((word) => fillIn(word, folder))
      const command = typeof words === 'string' ? shellCommand(fillIn(words, folder)) : { file, args }
      const { exit_code, output } = await runToEnd({ ...command, cwd: folder, env, limitMs: buildLimitMs }, options)
      log.info({ path, exit_code, output }, 'the initializeCommand of a dev container has run')
      if (exit_code !== 0)
        throw new ContainmentUnavailable(
          `The initializeCommand of ${path} failed (exit ${exit_code}). Its output ends with:\n${endOf(output)}`,
        )
    }),
  )
}

/** What the CLI says of its own end: the log before it says why. */
const isOwn = (line: string): boolean =>
  /^(?:\s+at |Error: Command failed: |Exit code \d+$|\{"outcome":|Start: Run: )/.test(line)

/** Returns the last lines of a log, without the times in front. */
export function endOf(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^\[\d{4}-[^\]]*\] /, '').trimEnd())
  return lines
    .filter((line) => line !== '' && !isOwn(line))
    .slice(-8)
    .join('\n')
    .slice(-1_500)
}

/**
 * Gives the user of a dev container the ids of this service's user, by the file that the CLI brings for it. Returns the
 * image with it.
 */
export async function withOwnIds(
  client: EngineClient,
  {
    image,
    user,
    imageUser,
    ids,
  }: {
    readonly image: string
    readonly user: string
    readonly imageUser: string
    readonly ids: { readonly uid: number; readonly gid: number }
  },
  options: Cancellable,
): Promise<string> {
  const own = `${image}-${ids.uid}`
  const known = await askEngine(client, ['image', 'inspect', own], options)
  if (known.exit_code === 0) return own
  const folder = await mkdtemp(join(tmpdir(), 'copse-dev-'))
  try {
    const dockerfile = join(folder, 'Dockerfile')
    await writeFile(dockerfile, await readFile(join(cliFolder(), 'scripts', 'updateUID.Dockerfile')))
    await mkdir(join(folder, 'context'))
    const values = { BASE_IMAGE: image, REMOTE_USER: user, NEW_UID: ids.uid, NEW_GID: ids.gid, IMAGE_USER: imageUser }
    const args = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
    const built = await askEngine(
      client,
      ['build', '--file', dockerfile, '--tag', own, ...args, join(folder, 'context')],
      { ...options, limitMs: buildLimitMs },
    )
    if (built.exit_code !== 0)
      throw new ContainmentUnavailable(`The user ${user} could not be given your ids:\n${endOf(built.stderr)}`)
    return own
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
