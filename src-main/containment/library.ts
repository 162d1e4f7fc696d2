import type { SandboxManager as Manager } from '@anthropic-ai/sandbox-runtime'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { guardProcess } from '../platform/process/orphan-guard.ts'
import { sweepCgroups } from './cgroup.ts'
import { isLeft, sweepTemporary } from '../platform/process/run-folders.ts'

/** The library searches this process's working directory with ripgrep; no run works there, so the search is skipped. */
const ripgrep = { command: 'true' }

export const loadLibrary = async (): Promise<typeof Manager> =>
  (await import('@anthropic-ai/sandbox-runtime')).SandboxManager

// The library has one state per process, however many services hold it.
let holders = 0
let starting: Promise<void> | undefined
/** The single sweep of what killed services left. */
let left: Promise<void> | undefined
const openNetwork = new AsyncLocalStorage<true>()
/** Where services of this process listen; their runs reach them by a way that tells which run it is, and no other. */
const ownAddresses = new Set<string>()

/** Keeps the library's proxies from connecting to a service of this process, which would take a run for itself. */
export function keepFromProxies({ port, protocol }: URL): void {
  const number = port || (protocol === 'https:' ? '443' : '80')
  for (const host of ['127.0.0.1', '[::1]', 'localhost', '*.localhost']) ownAddresses.add(`${host}:${number}`)
}

export async function holdLibrary(): Promise<void> {
  holders += 1
  left ??= sweepTemporary().then(() => sweepCgroups(isLeft))
  await left
  const manager = await loadLibrary()
  const network = {
    // Any list, even an empty one, takes the machine's network from every wrapped command; without a list the
    // library's proxy fails for other commands.
    get allowedDomains(): string[] {
      return openNetwork.getStore() === true ? (undefined as unknown as string[]) : []
    },
    get deniedDomains(): string[] {
      return [...ownAddresses]
    },
    // Sockets are hidden by their folders. Refusing all of them would break programs that talk to themselves.
    allowAllUnixSockets: true,
  }
  const filesystem = { denyRead: [], allowWrite: [], denyWrite: [] }
  // On Linux the library's watch of writes works only if sockets are refused.
  const watchesLog = process.platform === 'darwin'
  const rules = { network, filesystem, ripgrep, allowPty: true, ...javaAgent() }
  starting ??= guardingBridges(() => manager.initialize(rules, undefined, watchesLog))
  try {
    await starting
  } catch (error) {
    holders -= 1
    starting = undefined
    throw error
  }
}

/** Has the bridges to the library's proxies, which it starts in `work`, end with this process, also when that is killed. */
async function guardingBridges(work: () => Promise<void>): Promise<void> {
  const bridges: ChildProcess[] = []
  const see = (message: unknown): void => void bridges.push((message as { readonly process: ChildProcess }).process)
  subscribe('child_process', see)
  try {
    await work()
  } finally {
    unsubscribe('child_process', see)
    await Promise.all(bridges.filter(({ spawnfile }) => spawnfile === 'socat').map(guardProcess))
  }
}

/**
 * Returns the path of the JVM's proxy agent, which a packed app keeps beside its archive, because a JVM can't read
 * into it.
 */
function javaAgent(): { readonly javaAgentJarPath?: string } {
  const library = findLibrary()
  if (library === null) return {}
  const unpacked = library.replace(/([\\/]app\.asar)([\\/].*[\\/])dist[\\/]index\.js$/, '$1.unpacked$2')
  if (unpacked === library) return {}
  return { javaAgentJarPath: join(unpacked, 'vendor', 'java-proxy-agent', 'srt-proxy-agent.jar') }
}

/** Null where the library is part of this program's own file, as of a runner elsewhere: then its agent is left out. */
function findLibrary(): string | null {
  try {
    return createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime')
  } catch {
    return null
  }
}

/** Runs `work`, in which wrapped commands keep the machine's network. */
export const withOpenNetwork = <R>(work: () => Promise<R>): Promise<R> => openNetwork.run(true, work)

export async function releaseLibrary(): Promise<void> {
  holders -= 1
  if (holders > 0) return
  starting = undefined
  await (await loadLibrary()).reset()
}

/** Calls `take` with every line that the library reports about this command, until the returned function is called. */
export async function watchDenials(commandId: string, take: (line: string) => void): Promise<() => void> {
  const store = (await loadLibrary()).getSandboxViolationStore()
  const seen = new WeakSet()
  return store.subscribe(() => {
    for (const violation of store.getViolationsForCommand(commandId)) {
      if (seen.has(violation)) continue
      seen.add(violation)
      take(violation.line)
    }
  })
}
