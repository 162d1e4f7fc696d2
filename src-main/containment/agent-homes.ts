import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { HomePlace } from '../../src-shared/contract/containment.ts'
import type { AgentHomes } from '../ports/agent-homes.ts'
import { copyKept } from './copy-kept.ts'
import { filtered, gits, keys, toolchains } from './home.ts'
import { inFull, isWithin } from '../platform/path-names.ts'
import { removeTemporary } from '../platform/process/run-folders.ts'

/** Folders below home that hold one folder for each program. */
const shared = new Set(['.config', '.local', '.local/share', '.local/state', 'Library', 'Library/Application Support'])

/** What other programs read or run at their start, so that a run must not write it for the person. */
const forOthers = [
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.inputrc', '.login'],
  ...['.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zsh', '.oh-my-zsh', '.config/fish', '.config/nushell', '.tcshrc'],
  ...[
    '.config/autostart',
    '.config/systemd',
    '.config/environment.d',
    '.local/share/applications',
    '.local/share/systemd',
  ],
  ...['.local/share/dbus-1', '.local/share/nautilus', '.xprofile', '.xinitrc', '.xsession', '.pam_environment'],
  ...['.gitconfig', '.config/git', '.git-templates', '.config/direnv', '.envrc', '.config/mise', '.tool-versions'],
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.node_modules', 'node_modules', '.local/bin', '.local/lib', 'bin', '.vimrc'],
  ...['.config/nvim', '.emacs', '.emacs.d', '.config/Code', '.vscode', '.tmux.conf', '.config/tmux', '.pythonrc'],
  ...[
    '.cargo',
    '.rustup',
    '.m2',
    '.gradle',
    '.sdkman',
    '.nvm',
    '.pyenv',
    '.bundle',
    '.config/pip',
    'Library/LaunchAgents',
  ],
  // Shells and desktops run some files of it.
  '.cache',
  // What git, debuggers, interpreters and the hooks of projects read in every home or in every folder around a project.
  ...['.git', '.hg', '.svn', '.gitmodules', '.editorconfig', '.config/husky', '.gdbinit', '.lldbinit', '.Rprofile'],
  ...['.Renviron', '.ipython', '.jupyter', '.ghci', '.mailcap', '.pydistutils.cfg', '.pnpmfile.cjs', '.rpmmacros'],
  ...['.zlogout', '.bash_completion', '.selected_editor', '.pki', '.java', '.ant', '.sqlite_history'],
  ...toolchains,
  ...filtered,
  ...gits,
]
/** Settings of one program have such names, and many run what stands in them: `.psqlrc`, `.eslintrc.js`. */
const settings = /^\.[\w-]*rc(?:\.\w+)?$/i

/** Looks at at most this many files, because a program may write a million. */
const maxFiles = 20_000

export function createAgentHomes({ dataDir }: { readonly dataDir: string }): AgentHomes {
  const placeOf = (agent: string): string => join(dataDir, 'homes', agent)
  const homeOf = (env: Readonly<Record<string, string>> | undefined): string => env?.['HOME'] ?? homedir()
  return {
    folderOf: async (agent) => {
      await mkdir(placeOf(agent), { recursive: true, mode: 0o700 })
      return placeOf(agent)
    },
    written: async (agent, { env, extra_paths }) => {
      const allowed = (extra_paths?.write ?? []).map(inFull)
      const isAllowed = (path: string): boolean =>
        allowed.some((one) => isWithin(join(homeOf(env), path.slice(2)), one))
      const paths = (await writtenIn(placeOf(agent))).filter((path) => !isAllowed(path))
      return await Promise.all(paths.map((path) => describe(placeOf(agent), homeOf(env), path)))
    },
    keep: async (agent, { env }, path) => {
      const problem = keepProblem(path)
      if (problem !== null) return { problem }
      const to = join(homeOf(env), path.slice(2))
      const allowed = env?.['HOME'] === undefined ? path : to
      if (existsSync(to)) return { allowed }
      await mkdir(dirname(to), { recursive: true })
      const isCopied = await copyKept(placeOf(agent), path.slice(2), to)
      return isCopied ? { allowed } : { problem: `No run of this agent wrote ${path}.` }
    },
    remove: async (agent) => {
      await removeTemporary(placeOf(agent))
    },
  }
}

/** Returns the folders and files of programs below a private home in which runs have written something, from `~`. */
export async function writtenIn(home: string): Promise<readonly string[]> {
  const inFolder = async (folder: string): Promise<readonly string[]> => {
    const entries = await readdir(join(home, folder), { withFileTypes: true }).catch(() => [])
    const found = entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && shared.has(path)) return await inFolder(path)
      return (await hasContent(join(home, path))) ? [`~/${path}`] : []
    })
    return (await Promise.all(found)).flat()
  }
  return (await inFolder('')).toSorted()
}

/** Returns why a place must not go from a private home to the person's; null if it may. */
export function keepProblem(path: string): string | null {
  const name = path.slice(2)
  const isPlain = /^~\/(?:\.|Library\/)/.test(path) && relative('/', join('/', name)) === name
  if (!isPlain || shared.has(name)) return `${path} is no folder of one program below ~.`
  const isOthers = settings.test(name) || [...forOthers, ...keys].some((other) => overlap(name, other))
  if (!isOthers) return null
  return `Other programs read ${path}, so it stays private to this agent.`
}

const overlap = (one: string, other: string): boolean => isWithin(one, other) || isWithin(other, one)

async function describe(place: string, home: string, path: string): Promise<HomePlace> {
  const from = join(place, path.slice(2))
  const { bytes, newest } = await measure(from)
  return {
    path,
    bytes,
    changed_at: new Date(newest).toISOString(),
    exists: existsSync(join(home, path.slice(2))),
    problem: keepProblem(path),
  }
}

/** Empty folders and files are places where the person's own ones are shown. */
async function hasContent(path: string): Promise<boolean> {
  let files = 0
  for await (const { size } of filesIn(path)) if (size > 0 || ++files >= maxFiles) return true
  return false
}

async function measure(path: string): Promise<{ readonly bytes: number; readonly newest: number }> {
  let [bytes, newest, files] = [0, 0, 0]
  for await (const { size, mtimeMs } of filesIn(path)) {
    bytes += size
    newest = Math.max(newest, mtimeMs)
    files += 1
    if (files >= maxFiles) break
  }
  return { bytes, newest }
}

/** Follows no links. */
async function* filesIn(path: string): AsyncGenerator<{ readonly size: number; readonly mtimeMs: number }> {
  const found = await lstat(path).catch(() => null)
  if (found?.isFile()) yield found
  if (!found?.isDirectory()) return
  for (const name of await readdir(path).catch(() => [])) yield* filesIn(join(path, name))
}
