import { tmpdir } from 'node:os'
import { findOnPath } from '../platform/process/find-on-path.ts'
import { ProcessStartError, spawnTree, type ProcessTree } from '../platform/process/process.ts'
import { createTextTail } from '../platform/text/text-tail.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { ContainerConfig } from './container-config.ts'

/** The client of a container engine, which does all by its command line. */
export interface EngineClient {
  readonly program: string
  /** Come before every command. */
  readonly args: readonly string[]
  /** Its complete environment: nothing that a run was given. */
  readonly env: Readonly<Record<string, string>>
}

export interface EngineAnswer {
  readonly exit_code: number
  /** The last 64 KB of each. */
  readonly stdout: string
  readonly stderr: string
}

/** No client of an engine is installed here. */
export class NoEngine extends Error {
  override readonly name = 'NoEngine'
}

/** Variables of the person that clients read. Proxies are left out: a client would hand them to containers. */
const names = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR', 'SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'],
])
const prefixes = /^(?:DOCKER|CONTAINERS?|STORAGE|REGISTRY_AUTH)_/

export type Variables = Readonly<Record<string, string | undefined>>

function clientEnvironment(inherited: Variables): EngineClient['env'] {
  const kept = Object.entries(inherited).filter(([name]) => names.has(name) || prefixes.test(name))
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** Returns the clients for a runner's engine, of which the first that answers is used. Throws `NoEngine` with what to do. */
export function findEngines(
  engine: ContainerConfig['engine'],
  inherited: Variables = process.env,
): readonly EngineClient[] {
  const env = clientEnvironment(inherited)
  const clients = (name: string, args: readonly string[] = []): readonly EngineClient[] => {
    const program = findOnPath(name, inherited)
    return program === null ? [] : [{ program, args, env }]
  }
  const found = (all: readonly EngineClient[], problem: string): readonly EngineClient[] => {
    if (all.length === 0) throw new NoEngine(problem)
    return all
  }
  if (engine === 'docker' || engine === 'podman')
    return found(clients(engine), `${engine} was not found on this machine. Install it, or choose another engine.`)
  if (engine === null)
    return found(
      [...clients('docker'), ...clients('podman')],
      'Neither docker nor podman was found on this machine. Install one of them.',
    )
  return found(
    [...clients('docker', ['--host', engine]), ...clients('podman', ['--url', engine])].slice(0, 1),
    `To use ${engine}, install the client docker or podman.`,
  )
}

/** Returns Podman's own client for an engine at an address; null if there is none here. */
export function findPodmanAt(address: string, inherited: Variables = process.env): EngineClient | null {
  const program = findOnPath('podman', inherited)
  return program === null ? null : { program, args: ['--url', address], env: clientEnvironment(inherited) }
}

/** Runs one command of the engine to its end, `limitMs` (60 s) at most: then it is ended with exit code 124. */
export async function askEngine(
  { program, args, env }: EngineClient,
  command: readonly string[],
  { signal, limitMs = 60_000 }: Cancellable & { readonly limitMs?: number },
): Promise<EngineAnswer> {
  signal.throwIfAborted()
  const tree = await start(program, [...args, ...command], env)
  if (tree === null) return { exit_code: 127, stdout: '', stderr: `${program} could not be started.` }
  let isLate = false
  const stop = (): void => void tree.stop({ graceMs: 1_000 })
  const timer = setTimeout(() => {
    isLate = true
    stop()
  }, limitMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [stdout, stderr, { exit_code }] = await Promise.all([readEnd(tree.stdout), readEnd(tree.stderr), tree.ended])
    signal.throwIfAborted()
    const late = `${program} did not answer within ${limitMs / 1_000} s.`
    return isLate ? { exit_code: 124, stdout, stderr: late } : { exit_code, stdout, stderr }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** Returns the last line of what a client said of its failure, without its own prefix. */
export function lastWords({ stderr, stdout }: Pick<EngineAnswer, 'stderr' | 'stdout'>): string {
  const lines = (text: string) => text.split('\n').map((line) => line.trim())
  const said = lines(stderr).findLast(Boolean) ?? lines(stdout).findLast(Boolean) ?? 'It said nothing.'
  return said.replace(/^(?:Error(?: response from daemon)?|docker|podman): /i, '')
}

async function start(program: string, args: readonly string[], env: EngineClient['env']): Promise<ProcessTree | null> {
  try {
    return await spawnTree(program, args, { cwd: tmpdir(), env, stdin: 'ignore' })
  } catch (error) {
    if (error instanceof ProcessStartError) return null
    throw error
  }
}

async function readEnd(output: ProcessTree['stdout']): Promise<string> {
  const tail = createTextTail(65_536)
  for await (const chunk of output as AsyncIterable<Buffer>) tail.push(chunk)
  return tail.text()
}
