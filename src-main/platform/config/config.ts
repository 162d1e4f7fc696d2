import { resolve } from 'node:path'
import { hostNames, proxyNetworks, readTls } from './exposure.ts'
import { ConfigError, type Setting } from './config-error.ts'
import { isLoopbackHost } from './loopback.ts'
import { defaultDataDir, type Resources } from './paths.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** All settings of a start, checked. */
export interface AppConfig {
  /** Absolute path. */
  readonly dataDir: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Absolute path; worktrees live below it. */
  readonly workspaceRoot: string
  /** How long a cancelled task's worktree is kept. */
  readonly cleanupDelaySeconds: number
  readonly bcryptCost: number
  /** Who may register; null: the default of `startedAs`. */
  readonly registration: 'open' | 'invite' | 'closed' | null
  readonly logLevel: LogLevel
  /** The built web UI; null if there is none. */
  readonly webRoot: string | null
  /** Folder of the shipped workflow templates. */
  readonly workflowsDir: string
  readonly migrationsDir: string
  /** The program that is brought to runners on other machines. */
  readonly runnerProgram: string
  readonly version: string
  /** Further host names of the service. */
  readonly allowedHosts?: readonly string[]
  /** Addresses or networks of proxies that are trusted to state a caller's address. */
  readonly trustProxy?: readonly string[]
  /** PEM texts; without them the service speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null
  /** Maximum number of open connections. */
  readonly maxConnections?: number
  /** Started as the local user's app or as a service; by default a service. */
  readonly startedAs?: 'desktop' | 'serve'
  /** Listening beyond this machine is intended. */
  readonly expose?: boolean
  /** Meaning of containment `auto`: where the machine can, or never. */
  readonly containment?: 'auto' | 'none'
  /**
   * Who may create projects, repositories and agents; null: admins alone if others can reach the service, else all
   * users.
   */
  readonly projectCreators?: 'all' | 'admins' | null
}

/** Options of the command line, which override the environment. */
export interface ConfigOptions {
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly dataDir?: string | undefined
  /** Listening beyond this machine is intended. */
  readonly expose?: boolean | undefined
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
  readonly startedAs?: 'desktop' | 'serve' | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the command line, then the environment, then defaults. Throws `ConfigError` at the first unusable value. */
export function readConfig(env: Environment, options: ConfigOptions, program: Resources): AppConfig {
  const from = (name: string, flag?: string, option?: string): Setting | null => {
    if (flag !== undefined && option !== undefined) return { name: flag, value: option }
    const value = env[name]
    return value === undefined || value === '' ? null : { name, value }
  }
  const dataDir = folder(from('SVC_DATA_DIR', '--data-dir', options.dataDir)) ?? defaultDataDir(env, process.platform)
  const exposed = options.expose === true || choice(from('SVC_EXPOSE'), ['0', '1']) === '1'
  return {
    dataDir,
    host: reach(from('SVC_HOST', '--host', options.host), exposed) ?? '127.0.0.1',
    port: whole(from('SVC_PORT', '--port', options.port), 0, 65_535) ?? 4870,
    workspaceRoot: folder(from('SVC_WORKSPACE_ROOT')) ?? resolve(dataDir, 'workspaces'),
    cleanupDelaySeconds: whole(from('SVC_WORKSPACE_CLEANUP_DELAY_SECONDS'), 0, 31_536_000) ?? 86_400,
    bcryptCost: whole(from('SVC_BCRYPT_COST'), 4, 31) ?? 12,
    registration: choice(from('SVC_REGISTRATION'), ['open', 'invite', 'closed']),
    logLevel: choice(from('SVC_LOG_LEVEL'), logLevels) ?? 'info',
    webRoot: program.webRoot,
    workflowsDir: program.workflowsDir,
    migrationsDir: program.migrationsDir,
    runnerProgram: program.runnerProgram,
    version: program.version,
    allowedHosts: hostNames(from('SVC_ALLOWED_HOSTS')),
    trustProxy: proxyNetworks(from('SVC_TRUST_PROXY')),
    maxConnections: whole(from('SVC_MAX_CONNECTIONS'), 20, 100_000) ?? 2_000,
    tls: readTls(from('SVC_TLS_CERT', '--tls-cert', options.tlsCert), from('SVC_TLS_KEY', '--tls-key', options.tlsKey)),
    startedAs: options.startedAs ?? 'serve',
    expose: exposed,
    containment: choice(from('SVC_CONTAINMENT'), ['auto', 'none']) ?? 'auto',
    projectCreators: choice(from('SVC_PROJECT_CREATORS'), ['all', 'admins']),
  }
}

/** Returns whether anything but this machine's programs can reach the service, directly or through a proxy. */
export function isExposed({ host, expose, allowedHosts = [], trustProxy = [] }: AppConfig): boolean {
  return expose === true || !isLoopbackHost(host) || allowedHosts.length > 0 || trustProxy.length > 0
}

function whole(setting: Setting | null, min: number, max: number): number | null {
  if (setting === null) return null
  const number = /^\d{1,9}$/.test(setting.value.trim()) ? Number(setting.value) : NaN
  if (number >= min && number <= max) return number
  throw new ConfigError(setting.name, setting.value, `give a whole number from ${min} to ${max}.`)
}

function choice<const T extends string>(setting: Setting | null, values: readonly T[]): T | null {
  if (setting === null) return null
  const found = values.find((value) => value === setting.value.trim().toLowerCase())
  if (found !== undefined) return found
  throw new ConfigError(setting.name, setting.value, `give one of ${values.join(', ')}.`)
}

function folder(setting: Setting | null): string | null {
  if (setting === null) return null
  if (setting.value.trim() !== '' && !setting.value.includes('\0')) return resolve(setting.value)
  throw new ConfigError(setting.name, setting.value, 'give the path of a folder.')
}

function host(setting: Setting | null): string | null {
  if (setting === null) return null
  const value = setting.value.trim().replace(/^\[(.*)\]$/, '$1')
  if (/^[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?$/.test(value) || /^[0-9A-Fa-f:.%]*:[0-9A-Za-z:.%]*$/.test(value)) {
    return value
  }
  throw new ConfigError(setting.name, setting.value, 'give an address to listen on, such as 127.0.0.1.')
}

/** Refuses to listen beyond this machine unless intended, because anyone who reaches the service can try to sign in. */
function reach(setting: Setting | null, exposed: boolean): string | null {
  const address = host(setting)
  if (setting === null || address === null || exposed || isLoopbackHost(address)) return address
  const wanted =
    'it opens the service to the network. Add --expose (SVC_EXPOSE=1) if you mean to; see docs/security.md.'
  throw new ConfigError(setting.name, setting.value, wanted)
}
