import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { createLogger } from '../platform/logging/log.ts'
import { createContainedPrograms } from './contained.ts'
import { onEndSignal } from './end-signal.ts'
import { runRunner } from './run-runner.ts'
import { createServiceCalls, ServiceRefusal } from './service-calls.ts'

export interface ConnectOptions {
  /** Where the service is. */
  readonly url: string
  readonly tokenFile: string
  /** Where clones are kept; by default a folder of the service and token below `~/.copse-runner`. */
  readonly folder?: string
  /** How many runs it takes at a time; by default as many as the service says. */
  readonly capacity?: number
}

/**
 * Is a runner that connects to its service from here, until it is told to end; then its runs end too. Resolves with the
 * exit code. `program`: the file of the program that runners elsewhere are.
 */
export async function connectRunner(
  options: ConnectOptions,
  { version, program }: { readonly version: string; readonly program: string },
): Promise<number> {
  const url = URL.parse(options.url)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return complain(`${options.url} is no address of a service. Use one like https://copse.example.com.`)
  const token = (await readFile(options.tokenFile, 'utf8').catch(() => '')).trim()
  if (token === '')
    return complain(`There is no token in ${options.tokenFile}. Save the one that Copse has shown there.`)
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    process.stderr.write(`Careful: without https, others on the way to ${url.host} can read the token and the work.\n`)
  const base = url.href.replace(/\/+$/, '')
  const folder = options.folder ?? join(homedir(), '.copse-runner', nameOf(base, token))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const stop = new AbortController()
  let isHungUp = false
  const say = (text: string): void => void (isHungUp || process.stderr.write(`${text}\n`))
  using _ = onEndSignal(['SIGTERM', 'SIGINT', 'SIGHUP'], (signal) => {
    isHungUp = signal === 'SIGHUP'
    say('Ending this runner and its runs. Press Ctrl+C again to end it at once.')
    stop.abort()
  })
  const log = createLogger({ level: 'warn' })
  await using programs = createContainedPrograms({ folder, own: folder, url: () => base, log })
  try {
    const hasKept = await runRunner(
      {
        ...programs,
        service: createServiceCalls({ url: () => base, token: () => token, reportPath: '/daemons/self/report' }),
        folder,
        own: folder,
        program: [process.execPath, program],
        log,
        about: { hostname: hostname().slice(0, 255), version, ...(options.capacity && { capacity: options.capacity }) },
        onContact: () => process.stdout.write(`Connected to ${base}. Press Ctrl+C to end this runner and its runs.\n`),
      },
      stop.signal,
    )
    if (hasKept) say(`Work that could not be sent is kept in ${folder}. It is sent when this runner starts again.`)
    return 0
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    return complain(error.message)
  }
}

function complain(text: string): number {
  process.stderr.write(`svc runner: ${text}\n`)
  return 1
}

const nameOf = (base: string, token: string): string =>
  createHash('sha256').update(`${base}\n${token}`).digest('hex').slice(0, 16)
