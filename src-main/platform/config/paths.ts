import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Files of the program. */
export interface Resources {
  /** The folder of package.json, in a clone and in a packaged app. */
  readonly root: string
  readonly version: string
  /** The built window, also served as the web UI; null before the first build. */
  readonly webRoot: string | null
  readonly workflowsDir: string
  readonly migrationsDir: string
  /** The bundle that is brought to runners on other machines. */
  readonly runnerProgram: string
}

/**
 * Finds the program's files from an entry file's `import.meta.dirname`, because the sources and the bundle lie at
 * different depths below package.json.
 */
export function findResources(entryDir: string): Resources {
  let root = entryDir
  while (!existsSync(join(root, 'package.json'))) {
    const parent = dirname(root)
    if (parent === root) throw new Error(`No package.json above ${entryDir}: the installation is incomplete.`)
    root = parent
  }
  const webRoot = join(root, 'dist', 'renderer')
  return {
    root,
    version: versionIn(join(root, 'package.json')),
    webRoot: existsSync(join(webRoot, 'index.html')) ? webRoot : null,
    workflowsDir: join(root, 'workflows'),
    migrationsDir: join(root, 'src-main', 'store', 'migrations'),
    runnerProgram: join(root, 'dist', 'runner', 'runner.mjs'),
  }
}

function versionIn(file: string): string {
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown }
  if (typeof version !== 'string') throw new Error(`${file} names no version: the installation is incomplete.`)
  return version
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the platform's folder for application data, the default data folder. */
export function defaultDataDir(env: Environment, platform: NodeJS.Platform, home: string = homedir()): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Copse')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Copse')
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'copse')
}

/**
 * Creates the data folder with access for its owner only, and tightens a wider mode. Throws the system's error if it
 * can't be written.
 */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  tighten(dataDir)
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
}

/**
 * Tightens the mode. Windows has no modes, and only the owner can change another user's folder, so both stay as they
 * are.
 */
function tighten(dataDir: string): void {
  const { mode, uid } = statSync(dataDir)
  const isOwn = process.getuid?.() === 0 || process.getuid?.() === uid
  if (process.platform !== 'win32' && isOwn && (mode & 0o077) !== 0) chmodSync(dataDir, 0o700)
}
