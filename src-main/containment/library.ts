import type { SandboxManager as Manager } from '@anthropic-ai/sandbox-runtime'
import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { sweepCgroups } from './cgroup.ts'
import { isLeft, sweepTemporary } from './temporary.ts'

/** It walks the working directory of this process, in which no run works: nothing to find there. */
const ripgrep = { command: 'true' }

export const loadLibrary = async (): Promise<typeof Manager> =>
  (await import('@anthropic-ai/sandbox-runtime')).SandboxManager

// The library keeps one state for the process, whatever number of services it holds.
let holders = 0
let starting: Promise<void> | undefined
/** What services left that were killed, looked for once. */
let left: Promise<void> | undefined
const openNetwork = new AsyncLocalStorage<true>()

export async function holdLibrary(): Promise<void> {
  holders += 1
  left ??= sweepTemporary().then(() => sweepCgroups(isLeft))
  await left
  const manager = await loadLibrary()
  const network = {
    // A list, even an empty one, takes the machine's network from every command that is wrapped; without one the proxy
    // of the others fails at each request.
    get allowedDomains(): string[] {
      return openNetwork.getStore() === true ? (undefined as unknown as string[]) : []
    },
    deniedDomains: [],
    // Sockets are hidden by their folders; to refuse them all would refuse every program that talks to itself.
    allowAllUnixSockets: true,
  }
  const filesystem = { denyRead: [], allowWrite: [], denyWrite: [] }
  // On Linux its watch of writes comes with the refusal of sockets.
  const watchesLog = process.platform === 'darwin'
  const rules = { network, filesystem, ripgrep, allowPty: true, ...javaAgent() }
  starting ??= manager.initialize(rules, undefined, watchesLog)
  try {
    await starting
  } catch (error) {
    holders -= 1
    starting = undefined
    throw error
  }
}

/** What leads a JVM to the proxy lies beside the archive of the packed app, into which no JVM can look. */
function javaAgent(): { readonly javaAgentJarPath?: string } {
  const library = createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime')
  const unpacked = library.replace(/([\\/]app\.asar)([\\/].*[\\/])dist[\\/]index\.js$/, '$1.unpacked$2')
  if (unpacked === library) return {}
  return { javaAgentJarPath: join(unpacked, 'vendor', 'java-proxy-agent', 'srt-proxy-agent.jar') }
}

/** What is wrapped within `work` has the machine's network. */
export const withOpenNetwork = <R>(work: () => Promise<R>): Promise<R> => openNetwork.run(true, work)

export async function releaseLibrary(): Promise<void> {
  holders -= 1
  if (holders > 0) return
  starting = undefined
  await (await loadLibrary()).reset()
}

/** Calls `take` with every line that the library says of this command, until the answer is called. */
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
