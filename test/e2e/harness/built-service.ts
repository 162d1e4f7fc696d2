import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { quickFork } from '../../helpers/built.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export interface BuiltService extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  readonly pid: number
  /** Its output on stderr so far. */
  log(): string
  /** Ends it by `signal` and resolves to its exit code (null if the signal killed it). */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface BuiltServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Kept afterwards for a second start on the same data; by default a folder that is removed with it. */
  readonly dataDir?: string
  /** `serve` prints no code; `local` is `npm start` without a window, whose link signs in. */
  readonly as?: 'serve' | 'local'
  /** The port of an earlier start; any free one by default. */
  readonly port?: number
}

/** `COPSE_SLOW_ANSWERS=1200 npm test -- e2e` finds what depends on the order of answers. */
const slowly = process.env['COPSE_SLOW_ANSWERS'] ? ['--import', join(import.meta.dirname, 'slow-answers.mjs')] : []

/** Starts the built service as a person does, and waits until it listens. */
export async function startBuiltService(options: BuiltServiceOptions = {}): Promise<BuiltService> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'copse-e2e-')))
  const [file, ...args] = options.as === 'local' ? ['headless.js'] : ['cli.js', 'serve', '--json']
  const entry = join(root, 'dist', 'main', file ?? '')
  const child = spawn(
    process.execPath,
    [...slowly, entry, ...args, '--port', String(options.port ?? 0), '--data-dir', dataDir],
    {
      env: { ...process.env, ...quickFork, SVC_BCRYPT_COST: '4', SVC_LOG_LEVEL: 'warn', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return (await exited)[0]
  }
  const firstLine = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
  const started = await Promise.race([firstLine, exited.then(() => null)])
  if (started === null) throw new Error(`The built service did not start: ${log}`)
  return {
    url: addressIn(started[0]),
    dataDir,
    pid: child.pid ?? 0,
    log: () => log,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Reads `{"event":"listening","url":…}` or the sentence with the link (whose code stays in it). */
function addressIn(line: string): string {
  const address = /https?:\/\/[^\s"]+/.exec(line)?.[0]
  if (address === undefined) throw new Error(`No address in ${JSON.stringify(line)}`)
  return address
}
