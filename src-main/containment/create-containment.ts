import type { SandboxManager as Manager, SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainmentLevel, ContainmentStatus } from '../../src-shared/contract/containment.ts'
import type { Box, BoxedCommand } from '../platform/process/box.ts'
import { ContainmentUnavailable, type BoxRequest, type Containment } from '../ports/containment.ts'
import { forwardApi, type ApiForwarder } from './api-forwarder.ts'
import { readMachine } from './machine.ts'
import { pathProblem } from './path-problem.ts'
import { placesOf, privateFoldersIn } from './places.ts'

export interface ContainmentOptions {
  readonly dataDir: string
  readonly workspaceRoot: string
  /** What agents keep below the home folder, by `~`: no run reads it but that of the agent which names it. */
  readonly credentials: readonly string[]
  /** What `auto` means: `auto`, contained where the machine can; `none`, not. */
  readonly auto: 'auto' | 'none'
  /** Where the API listens, once it does. */
  readonly apiUrl: () => string | null
}

type SandboxManager = typeof Manager

/** It walks the working directory of this process, in which no run works: nothing to find there. */
const ripgrep = { command: 'true' }

export function createContainment(options: ContainmentOptions): Containment {
  let status: ContainmentStatus | undefined
  let held: Promise<void> | undefined
  const statusOnce = () => (status ??= readMachine())
  const refusal = (level: ContainmentLevel): string | null => {
    if (level === 'none' || level === 'auto' || statusOnce().available) return null
    return `This run can’t be contained. ${statusOnce().reason ?? ''}`.trimEnd()
  }
  return {
    status: () => withAuto(statusOnce(), options),
    refusal,
    pathProblem: (path) => pathProblem(path, options),
    box: async (request) => {
      if (request.level === 'none' || (request.level === 'auto' && options.auto === 'none')) return null
      if (request.level === 'auto' && !statusOnce().available) return null
      const why = refusal(request.level) ?? firstProblem(request, options)
      if (why !== null) throw new ContainmentUnavailable(why)
      // Runs may start side by side: the library is held once for all of them.
      held ??= hold().catch((error: unknown) => {
        held = undefined
        throw error
      })
      await held
      return createBox(options, request)
    },
    close: async () => {
      if (
        held !== undefined &&
        (await held.then(
          () => true,
          () => false,
        ))
      )
        await letGo()
      held = undefined
    },
  }
}

/** Says where `auto` contains nothing for another reason than the machine. */
function withAuto(status: ContainmentStatus, { auto }: ContainmentOptions): ContainmentStatus {
  const isOff = auto === 'none' && status.available
  return isOff ? { ...status, reason: 'SVC_CONTAINMENT is none, so `auto` contains nothing.' } : status
}

const loadLibrary = async (): Promise<SandboxManager> => (await import('@anthropic-ai/sandbox-runtime')).SandboxManager

// The library keeps one state for the process, whatever number of services it holds.
let holders = 0
let starting: Promise<void> | undefined

async function hold(): Promise<void> {
  holders += 1
  const manager = await loadLibrary()
  // Without a list of domains here, a run has the machine's network unless its own configuration has one. Sockets are
  // hidden by their folders; to refuse them all would refuse every program that talks to itself.
  const network = { deniedDomains: [], allowAllUnixSockets: true } as unknown as SandboxRuntimeConfig['network']
  const filesystem = { denyRead: [], allowWrite: [], denyWrite: [] }
  starting ??= manager.initialize({ network, filesystem, ripgrep, allowPty: true })
  try {
    await starting
  } catch (error) {
    holders -= 1
    starting = undefined
    throw error
  }
}

async function letGo(): Promise<void> {
  holders -= 1
  if (holders > 0) return
  starting = undefined
  await (await loadLibrary()).reset()
}

/** A link may lead elsewhere by now than when the path was taken. */
function firstProblem({ read = [], write = [] }: BoxRequest, options: ContainmentOptions): string | null {
  return [...read, ...write].reduce<string | null>((found, path) => found ?? pathProblem(path, options), null)
}

function createBox(options: ContainmentOptions, request: BoxRequest): Box {
  return { contain: (command) => contain(options, request, command) }
}

async function contain(
  { dataDir, workspaceRoot, credentials, apiUrl }: ContainmentOptions,
  request: BoxRequest,
  { file, args, env }: BoxedCommand,
): ReturnType<Box['contain']> {
  const manager = await loadLibrary()
  const temporary = await mkdtemp(join(tmpdir(), 'copse-run-'))
  const id = randomBytes(24).toString('base64url')
  let forwarder: ApiForwarder | null = null
  const release = async (): Promise<void> => {
    manager.unregisterCommandNetworkLists(id)
    manager.cleanupAfterCommand()
    await forwarder?.[Symbol.asyncDispose]()
    await rm(temporary, { recursive: true, force: true })
  }
  const limited = request.level === 'worktree_and_hosts'
  const url = limited ? apiUrl() : null
  if (url !== null) forwarder = await forwardApi(temporary, new URL(url))
  if (limited) manager.registerCommandNetworkLists(id, { allowedDomains: [...(request.hosts ?? [])] })
  const sockets = limited ? [manager.getLinuxHttpSocketPath(), manager.getLinuxSocksSocketPath()] : []
  const knowledge = env['SVC_KNOWLEDGE_FILE']
  const given = [
    ...privateFoldersIn([...args, ...Object.values(env)]),
    ...sockets.filter((path) => path !== undefined),
    ...(knowledge === undefined ? [] : [knowledge]),
  ]
  const filesystem = placesOf(request, { dataDir, workspaceRoot, credentials, temporary, given })
  const network = { allowedDomains: [], deniedDomains: [], allowAllUnixSockets: true }
  try {
    const { argv } = await manager.wrapWithSandboxArgv(
      `${forwarder && url ? toApi(forwarder.path, new URL(url)) : ''}exec env ${quoted([`TMPDIR=${temporary}`, file, ...args])}`,
      '/bin/sh',
      { filesystem, ...(limited && { network }) },
      undefined,
      request.cwd,
      { commandId: id, commandText: file },
    )
    const [shell = '/bin/sh', ...rest] = argv
    // The shell goes, so that bubblewrap's parent is this process: it ends with it.
    const words = rest.map((word) => (word.startsWith('bwrap ') ? `exec ${word}` : word))
    return { file: shell, args: words, env, release }
  } catch (error) {
    await release()
    throw error
  }
}

/** Inside, the address of the service is this socket; also for programs that know of no proxy. */
function toApi(path: string, { port }: URL): string {
  const address = `TCP4-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`
  return `{ socat ${quoted([address, `UNIX-CONNECT:${path}`])} >/dev/null 2>&1 & }; while ! socat -u /dev/null TCP4:127.0.0.1:${port} 2>/dev/null; do sleep 0.01; done; `
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
