import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Files that come with the program. */
export interface Resources {
  /** The folder of package.json, in a clone and in a packaged app alike. */
  readonly root: string
  readonly version: string
  /** The built window, also served as the web UI; null before the first build. */
  readonly webRoot: string | null
  readonly workflowsDir: string
  readonly migrationsDir: string
}

/**
 * Finds the program's own files from an entry file's `import.meta.dirname`: the sources and the built
 * bundle lie at different depths below package.json.
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
  }
}

function versionIn(file: string): string {
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown }
  if (typeof version !== 'string') throw new Error(`${file} names no version: the installation is incomplete.`)
  return version
}

type Environment = Readonly<Record<string, string | undefined>>

/** The platform's folder for an application's data: where Copse keeps everything unless told otherwise. */
export function defaultDataDir(env: Environment, platform: NodeJS.Platform, home: string = homedir()): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Copse')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Copse')
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'copse')
}

/** Makes the data folder, for its owner's eyes only; one that was there with a wider mode is tightened. Throws the system's error where it cannot be written. */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  tighten(dataDir)
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
}

/** Windows knows no modes. A folder of somebody else's stays as it is: only they can change it. */
function tighten(dataDir: string): void {
  const { mode, uid } = statSync(dataDir)
  const isOwn = process.getuid?.() === 0 || process.getuid?.() === uid
  if (process.platform !== 'win32' && isOwn && (mode & 0o077) !== 0) chmodSync(dataDir, 0o700)
}
