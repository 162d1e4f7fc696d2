import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { createClient, type Client } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import { builtFile, quickFork } from '../../helpers/built.ts'

export const cliFile = await builtFile('cli.js')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface SvcOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The input on stdin; nothing without it. */
  readonly stdin?: string
}

/** The running service as a process, and the command line with its own folder for sign-ins. */
export interface SvcWorld extends AsyncDisposable {
  readonly url: string
  /** The first output of the service. */
  readonly firstLine: string
  readonly token: string
  readonly client: Client
  /** The data folder of the command line, not of the service. */
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** Runs one command to its end. */
  svc(args: readonly string[], options?: SvcOptions): Promise<Ended>
  /** Runs one command with `--json` and returns its output; throws if it fails. */
  json<T>(args: readonly string[], options?: SvcOptions): Promise<T>
  /** Starts a command that keeps running. */
  start(args: readonly string[], options?: SvcOptions): ChildProcessWithoutNullStreams
}

const person = { email: 'owner@copse.test', password: 'correct horse', display_name: 'Owner' }

/** Starts the service; `signedIn` gives the commands its first account's token in the environment. */
export async function startWorld({ as = 'serve', signedIn = true } = {}): Promise<SvcWorld> {
  const home = await mkdtemp(join(tmpdir(), 'copse-svc-'))
  const served = as === 'serve' ? [cliFile, 'serve', '--json'] : [await builtFile('headless.js')]
  const service = spawn(process.execPath, [...served, '--port', '0', '--data-dir', join(home, 'service')], {
    env: { ...process.env, ...quickFork, SVC_BCRYPT_COST: '4', SVC_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(service, 'exit')
  const [firstLine] = (await once(createInterface({ input: service.stdout }), 'line')) as [string]
  const url = new URL(/https?:\/\/[^\s"]+/.exec(firstLine)?.[0] ?? '').origin
  const clientWith = (token: string | null) =>
    createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
  const token = signedIn ? (await clientWith(null).call('auth.register', person)).access_token : ''
  const env = { SVC_DATA_DIR: home, SVC_API_URL: url, ...(signedIn && { SVC_API_TOKEN: token }) }
  const start: SvcWorld['start'] = (args, options = {}) =>
    startSvc(args, { ...options, env: { ...env, ...options.env } })
  const svc: SvcWorld['svc'] = async (args, options = {}) => endOf(start(args, options), options.stdin)
  return {
    url,
    firstLine,
    token,
    client: clientWith(token),
    home,
    env,
    svc,
    json: async (args, options) => {
      const { code, stdout, stderr } = await svc([...args, '--json'], options)
      if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout) as never
    },
    start,
    [Symbol.asyncDispose]: async () => {
      service.kill()
      await exited
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The parts of a terminal that a test needs; the package's own types don't match its name here. */
interface Pty {
  write(data: string): void
  onData(listener: (data: string) => void): void
  onExit(listener: (event: { exitCode: number; signal?: number }) => void): void
}

export interface OnTerminal {
  write(text: string): void
  /** All output of the terminal so far. */
  shown(): string
  /** Resolves when the output matches. */
  waitFor(pattern: RegExp): Promise<void>
  readonly exit: Promise<number>
}

/** One `svc` process on a terminal of its own, 120 columns wide. */
export function startOnTerminal(args: readonly string[], options: SvcOptions): OnTerminal {
  const { spawn: spawnPty } = createRequire(import.meta.url)('node-pty') as {
    spawn(file: string, args: readonly string[], options: object): Pty
  }
  const env = { ...inheritedEnvironment(), TERM: 'xterm-256color', ...options.env }
  const pty = spawnPty(process.execPath, [cliFile, ...args], { env, cols: 120, rows: 40, cwd: options.cwd ?? tmpdir() })
  let shown = ''
  const told = new EventEmitter()
  const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  pty.onData((data) => {
    shown += data
    told.emit('data')
  })
  return {
    write: (text) => pty.write(text),
    shown: () => shown,
    waitFor: async (pattern) => {
      while (!pattern.test(shown)) {
        const ended = await Promise.race([once(told, 'data').then(() => false), exit.then(() => true)])
        if (ended && !pattern.test(shown)) throw new Error(`It ended without ${pattern.source}: ${shown}`)
      }
    },
    exit,
  }
}

/** One `svc` process without the surrounding `SVC_` settings, except that no run is contained. */
export function startSvc(args: readonly string[], options: SvcOptions): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [cliFile, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...inheritedEnvironment(), ...options.env },
  })
}

function inheritedEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SVC_(?!CONTAINMENT$)|FORCE_COLOR|NO_COLOR|PAGER|LESS|CI$)/.test(name),
  )
  return Object.fromEntries(kept) as Record<string, string>
}

/** All of its output, once it has ended. */
export async function endOf(child: ChildProcessWithoutNullStreams, stdin = ''): Promise<Ended> {
  // A command that does not read its stdin may be gone before it is written.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const closed = once(child, 'close') as Promise<[number | null]>
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, stdout, stderr }
}
