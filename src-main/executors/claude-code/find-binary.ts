import { access, constants, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/** What to do when Claude Code is not there. */
export const installHint =
  'Install Claude Code with `npm install -g @anthropic-ai/claude-code` and run `claude` once to sign in.'

export interface BinarySearch {
  /** The agent's `config.command`: a path, or a name on PATH. */
  readonly command: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
}

/**
 * The executable of Claude Code, null when there is none. An app started from a desktop often has a
 * short PATH, so the places of its own installers are looked at too.
 */
export async function findBinary({ command, env, platform }: BinarySearch): Promise<string | null> {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir()
  if (command !== null && /[\\/]/.test(command)) {
    const path = command.replace(/^~(?=[\\/])/, () => home)
    return await firstExecutable([isAbsolute(path) ? path : resolve(path)])
  }
  const folders = pathOf(env).split(delimiter).filter(isAbsolute)
  const usual = command === null ? usualFolders(home, platform) : []
  const name = command ?? 'claude'
  return await firstExecutable([...folders, ...usual].flatMap((folder) => candidates(folder, name, platform)))
}

// On Windows, npm puts a .cmd shim on PATH, which can't be started without a shell; the program lies beside it.
const candidates = (folder: string, name: string, platform: NodeJS.Platform): string[] =>
  platform === 'win32'
    ? [
        join(folder, name.endsWith('.exe') ? name : `${name}.exe`),
        join(folder, 'node_modules', '@anthropic-ai', 'claude-code', 'bin', 'claude.exe'),
      ]
    : [join(folder, name)]

const usualFolders = (home: string, platform: NodeJS.Platform): string[] =>
  platform === 'win32'
    ? [join(home, '.local', 'bin')]
    : [join(home, '.local', 'bin'), join(home, '.claude', 'local'), '/opt/homebrew/bin', '/usr/local/bin']

/** Windows spells it `Path`, and a copied environment has lost its indifference to case. */
const pathOf = (env: BinarySearch['env']): string =>
  Object.entries(env).find(([name, value]) => name.toUpperCase() === 'PATH' && value !== undefined)?.[1] ?? ''

async function firstExecutable(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await isExecutable(path)) return path
  return null
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    // Whatever keeps us from it (absent, not a folder, forbidden), it can't be started.
    return false
  }
}
