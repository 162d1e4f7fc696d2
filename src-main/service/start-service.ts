import { ConfigError } from '../platform/config/config-error.ts'
import { readConfig, type AppConfig, type ConfigOptions } from '../platform/config/config.ts'
import { prepareDataDir, type Resources } from '../platform/config/paths.ts'
import { pickPort } from '../platform/config/pick-port.ts'
import { SecretUnreadableError, type SecretSeal } from '../platform/config/secret-seal.ts'
import { forkHelper, type HelperStarter } from '../platform/process/helper-process.ts'
import { DataDirLockedError, lockDataDir } from '../platform/locks/single-instance.ts'
import { createApp, type App } from '../compose.ts'

/** The running app, which holds its data folder alone and listens. Disposing drains and releases it. */
export interface Service extends AsyncDisposable {
  readonly app: App
  readonly config: AppConfig
  readonly url: string
}

/** A refused start: one line for a person, and the exit code. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
  readonly code = 'start_refused'
  /** 2 for an unusable setting, else 1. */
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

export interface StartOptions extends ConfigOptions {
  readonly program: Resources
  readonly env: Readonly<Record<string, string | undefined>>
  /** Use any free port if the default one is taken; an explicit port is never replaced. */
  readonly anyPort: boolean
  /** Encrypts secrets in files, where the system offers that. */
  readonly seal?: SecretSeal | null
  /** Starts helpers; by default as processes of Node, which a packaged app can't. */
  readonly startHelper?: HelperStarter
}

/**
 * Starts the whole service. Throws `StartRefused` for problems that a person can fix, and then leaves nothing behind.
 */
export async function startService(options: StartOptions): Promise<Service> {
  try {
    return await start(options)
  } catch (error) {
    throw refusalOf(error) ?? error
  }
}

async function start(options: StartOptions): Promise<Service> {
  const asked = readConfig(options.env, options, options.program)
  openDataDir(asked.dataDir, options)
  await using opened = new AsyncDisposableStack()
  opened.use(lockDataDir(asked.dataDir))
  const config = await reservePort(asked, options)
  const app = opened.use(
    await createApp(config, { seal: options.seal ?? null, startHelper: options.startHelper ?? forkHelper }),
  )
  const { url } = await listening(config, () => app.listen())
  const owned = opened.move()
  return { app, config, url, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Reserves the port before anything starts, because a start that can't listen must not resume work. */
async function reservePort(asked: AppConfig, options: StartOptions): Promise<AppConfig> {
  const port = await listening(asked, () => pickPort(asked.host, asked.port))
  if (port === asked.port) return asked
  const given = options.port !== undefined || Boolean(options.env['SVC_PORT'])
  if (given || !options.anyPort) throw portTaken(asked)
  return { ...asked, port }
}

function openDataDir(dataDir: string, options: StartOptions): void {
  try {
    prepareDataDir(dataDir)
  } catch (error) {
    const setting = options.dataDir === undefined ? 'SVC_DATA_DIR' : '--data-dir'
    throw new ConfigError(setting, dataDir, `the folder cannot be written (${codeOf(error)}).`, { cause: error })
  }
}

async function listening<T>(config: AppConfig, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EADDRINUSE') throw portTaken(config)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES' || code === 'EAI_AGAIN') {
      const wanted = `this machine cannot listen there, port ${config.port} (${code}).`
      throw new ConfigError('SVC_HOST', config.host, wanted, { cause: error })
    }
    throw error
  }
}

function portTaken({ host, port }: AppConfig): StartRefused {
  return new StartRefused(
    `Port ${port} on ${host} is in use. Choose another with --port or SVC_PORT (0 picks a free one).`,
    1,
  )
}

function refusalOf(error: unknown): StartRefused | null {
  if (error instanceof ConfigError) return new StartRefused(error.message, 2, { cause: error })
  if (codeOf(error) === 'database_too_new' || codeOf(error) === 'database_unusable')
    return new StartRefused((error as Error).message, 1, { cause: error })
  if (error instanceof SecretUnreadableError) return new StartRefused(error.message, 1, { cause: error })
  if (error instanceof DataDirLockedError) return new StartRefused(error.message, 1, { cause: error })
  return null
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
