import { mkdir, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Logger } from '../platform/logging/log.ts'
import type { Box, BoxedCommand } from '../platform/process/box.ts'
import { addressOf, forwardPort, listeningScript, type Forwarder } from '../platform/process/port-forwarders.ts'
import { makeTemporary, removeTemporary } from '../platform/process/run-folders.ts'
import { treeVariable } from '../platform/process/tree-variable.ts'
import type { BoxRequest, Containment, HostWays, OpenHostWays } from '../ports/containment.ts'
import type { GitUser, GitView, GitViews } from '../ports/git-views.ts'
import { mountsOfRun } from './box-mounts.ts'
import { containerArgs, installationLabel, processLabel } from './container-args.ts'
import type { ContainerRunner } from './container-config.ts'
import type { Ground } from './ground-parts.ts'
import { installationOf } from './ground.ts'
import { removeContainers } from './leftovers.ts'
import type { SocatCopy } from './socat-copy.ts'
import { programsExitCode, startScript } from './start-script.ts'
import { openWayIn } from './way-in.ts'

export interface ContainerBoxOptions {
  readonly runner: ContainerRunner
  readonly dataDir: string
  readonly views: GitViews
  /** What this machine contains its own runs by. */
  readonly machine: Pick<Containment, 'pathProblem' | 'hostsProblem' | 'hostWays'>
  /** Returns the API's URL once it listens. */
  readonly apiUrl: () => string | null
  /** Begins to reach what listens in a container, until it is disposed of. */
  readonly reachInto?: (container: ReachedContainer) => AsyncDisposable
  readonly log: Logger
}

/** A container into which there is a way. */
export interface ReachedContainer {
  /** By which its processes are known on this machine. */
  readonly processMarker: string
  /** The first port of its worktree. */
  readonly port_base: number
  /** The socket that leads to an address of socat's once it is written to it, as a line. */
  readonly socket: string
}

/** Variables of this machine that mean the same in a container; all others are its image's or were given. */
const passed = new Set([
  ...['TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI', 'TZ'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'],
])

/** What a container stands on, and the program that leads out of it. */
export interface Prepared {
  readonly ground: Ground
  readonly socat: SocatCopy | null
}

/** Starts a command of a run in a container that lives as long as it does, unless `kept` says the labels of one to keep. */
export async function containInContainer(
  options: ContainerBoxOptions,
  { ground, socat, kept }: Prepared & { readonly kept?: Readonly<Record<string, string>> },
  { request, hostWays }: { readonly request: BoxRequest; readonly hostWays: HostWays | null },
  command: BoxedCommand,
): ReturnType<Box['contain']> {
  const { runner, dataDir, views, machine, apiUrl, log } = options
  const { pathProblem } = machine
  const { client, image, tools, dev } = ground
  const installation = installationOf(dataDir)
  const processMarker = command.env[treeVariable] ?? ''
  const temporary = await makeTemporary()
  const forwarders: Forwarder[] = []
  let view: GitView | null = null
  let ways: OpenHostWays | null = null
  let reached: AsyncDisposable | undefined
  const release = async (): Promise<void> => {
    const labels = { [installationLabel]: installation, [processLabel]: processMarker }
    try {
      await reached?.[Symbol.asyncDispose]()
      // A killed client leaves its container. Nothing may write when the work is taken over.
      await removeContainers(client, labels, { signal: AbortSignal.timeout(60_000), log, waitMs: 10_000 })
      for (const target of (await view?.close()) ?? [])
        request.onDenied?.({ what: 'path', target, access: 'write', count: 1 })
    } finally {
      await ways?.close()
      await Promise.all(forwarders.map((forwarder) => forwarder[Symbol.asyncDispose]()))
      await removeTemporary(temporary)
    }
  }
  try {
    const home = request.privateHome ?? join(temporary, 'home')
    await mkdir(home, { recursive: true, mode: 0o700 })
    view = await views.open(request.cwd)
    const url = apiUrl()
    const api = url === null || socat === null ? null : new URL(url)
    const forwarded = { folder: temporary, processMarker }
    const opened = (await hostWays?.open(forwarded)) ?? null
    ways = opened
    if (api !== null && opened === null) {
      const [host, port] = addressOf(api)
      forwarders.push(await forwardPort(forwarded, [host], port))
    }
    const variables = variablesOf(command.env, request.variables ?? [])
    const isUsersHome = dev !== undefined && request.privateHome === undefined
    const git = await writeGitSettings(
      temporary,
      isUsersHome ? '~' : home,
      view === null ? null : await views.userOf(request.cwd),
    )
    const env = { GIT_CONFIG_GLOBAL: git, ...variables, ...opened?.env, HOME: home, TMPDIR: temporary }
    const start = join(temporary, 'start')
    const listening = listeningScript([...forwarders, ...(opened?.forwarders ?? [])], socat?.command)
    const port_base = Number(command.env['SVC_PORT_BASE'] ?? '')
    const wayIn = socat === null || !(port_base > 0) ? null : await openWayIn(temporary, socat)
    const script = startScript({ env, tools, listening: `${listening}${wayIn?.script ?? ''}`, dev, isUsersHome })
    await writeFile(start, script, { mode: 0o600 })
    const mounts = mountsOfRun({ request, command, view, temporary, home, mounts: runner.config.mounts, pathProblem })
    const args = containerArgs(ground, {
      runner,
      installation,
      job: command.env['SVC_EXECUTION_ID'] ?? processMarker,
      processMarker,
      ...(kept && { isKept: true, labels: kept }),
      network: runner.config.network,
      cwd: request.cwd,
      mounts: [...mounts, ...(socat === null ? [] : [{ from: socat.folder, to: socat.folder, writable: false }])],
      more: [
        ...(dev?.args ?? []),
        // By its name, so that the machine’s processes can be told to end as the tree that they are.
        ...['--env', treeVariable],
        ...(api === null ? [] : ownHost(api)),
        ...(command.terminal === true ? ['--tty', '--detach-keys', neverTyped] : []),
      ],
    })
    if (wayIn !== null) reached = options.reachInto?.({ processMarker, port_base, socket: wayIn.socket })
    return {
      file: client.program,
      args: [...client.args, ...args, '/bin/sh', image, start, command.file, ...command.args],
      env: { ...ownVariables(command.env), ...client.env },
      release,
      exitCode: (told) => programsExitCode(start, told),
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Keys by which a person would leave a container running. */
const neverTyped = 'ctrl-^,ctrl-],ctrl-^,ctrl-],ctrl-_'

/** Variables of Copse, by which a tree is known on this machine. */
const ownVariables = (env: BoxedCommand['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('SVC_')))

/** Writes the person's name for commits, before the settings in the home. Nothing else of their own settings goes along. */
async function writeGitSettings(folder: string, home: string, user: GitUser | null): Promise<string> {
  const path = join(folder, 'gitconfig')
  const text = (name: string, value: string): string => `\t${name} = ${JSON.stringify(value)}\n`
  const own = Object.entries(user ?? {}).flatMap(([name, value]: [string, string | null]) =>
    value === null ? [] : [text(name, value)],
  )
  await writeFile(path, `[user]\n${own.join('')}[include]\n${text('path', join(home, '.gitconfig'))}`)
  return path
}

function variablesOf(env: BoxedCommand['env'], given: readonly string[]): Record<string, string> {
  const isKept = ([name, value]: readonly [string, string]): boolean =>
    given.includes(name) || passed.has(name) || process.env[name] !== value
  return Object.fromEntries(Object.entries(env).filter(isKept))
}

/** Lets the API's host name mean the container itself, where the port leads out. */
function ownHost(api: URL): readonly string[] {
  const [host] = addressOf(api)
  return host === 'localhost' || isIP(host) > 0 ? [] : ['--add-host', `${host}:127.0.0.1`]
}
