import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import type { ExecutionRun } from '../../ports/executors.ts'
import type { AgentNeeds } from '../definition.ts'
import { knownAgents, xdg } from './known-agents.ts'

export interface RunNeeds {
  readonly folders: readonly string[]
  readonly hosts: readonly string[]
  /** Names of variables. */
  readonly variables: readonly string[]
}

/**
 * Returns what a contained run of an agent needs. An agent that runs any command needs what the agents named in that
 * command need. Creates missing folders, because the run could not.
 */
export async function neededBy(
  own: AgentNeeds | undefined,
  all: readonly { readonly needs?: AgentNeeds | undefined }[],
  { config, own_command = '' }: Pick<ExecutionRun, 'config' | 'own_command'>,
): Promise<RunNeeds> {
  const named = [...all.flatMap(({ needs }) => needs ?? []), ...knownAgents].filter((one) => isNamed(one, own_command))
  const needs = own ? [own] : named
  const folders = needs.flatMap((one) => foldersOf(one, config.env ?? {}))
  for (const folder of folders) await makePlace(folder)
  const unknown = needs.length > 0 ? [] : ownFoldersOf(own_command, config.env ?? {})
  const starts = needs.flatMap(({ variables = [] }) => variables)
  return {
    folders: [...folders, ...unknown],
    hosts: needs.flatMap(({ hosts }) => hosts),
    variables: Object.keys(process.env).filter((name) => starts.some((start) => name.startsWith(start))),
  }
}

/** Programs whose folders are no agent's own: others trust what is in them. */
const notAgents = new Set([
  ...['sh', 'bash', 'zsh', 'fish', 'env', 'exec', 'nice', 'time', 'timeout', 'sudo', 'git', 'ssh', 'gh', 'glab', 'hub'],
  ...['node', 'npm', 'npx', 'pnpm', 'yarn', 'bun', 'bunx', 'deno', 'python', 'python3', 'uv', 'uvx', 'pipx', 'pip'],
  ...['cargo', 'rustup', 'go', 'java', 'mvn', 'gradle', 'dotnet', 'ruby', 'gem', 'bundle', 'php', 'composer', 'docker'],
  ...['podman', 'kubectl', 'helm', 'aws', 'az', 'gcloud', 'op', 'pass', 'gpg', 'vim', 'nvim', 'emacs', 'code', 'tmux'],
  ...['systemd', 'systemctl', 'autostart', 'direnv', 'mise', 'asdf', 'config', 'local', 'cache', 'profile', 'copse'],
])

/**
 * Returns the existing folders below home that bear the name of a program that nobody listed: its settings and sign-in,
 * as its user made them.
 */
function ownFoldersOf(command: string, env: NonNullable<AgentConfig['env']>): readonly string[] {
  const words = command.split(/[;&|\n]/).flatMap((part) =>
    part
      .trim()
      .replace(/^(?:\w+=\S*\s+)+/, '')
      .split(/\s+/, 3),
  )
  const names = words.map((word) => basename(word)).filter((name) => /^[a-z][\w-]+$/.test(name) && !notAgents.has(name))
  const places = names.flatMap((name) => [`~/.${name}`, ...xdg(name), `~/.${name}.json`])
  const home = env['HOME'] ?? homedir()
  return foldersOf({ folders: [...new Set(places)] }, env).filter((place) =>
    existsSync(place.replace(/^~(?=\/)/, () => home)),
  )
}

/** Returns whether a command line names an agent. */
function isNamed({ word, isWholeWord = false }: AgentNeeds, command: string): boolean {
  if (!isWholeWord) return command.includes(word)
  return new RegExp(`(?:^|[\\s/'"=;&|(])${word}(?=$|[\\s'";&|)@])`).test(command)
}

/** Creates the missing folders that a run may write, because it could not; leaves out what is named like a file. */
export async function makeFolders(places: readonly string[]): Promise<void> {
  const isFile = (place: string): boolean => /[^/]\.[^./]+$|rc$/.test(place)
  for (const place of places) if (!isFile(place)) await makePlace(place)
}

/** Returns an agent's folders under the environment of its configuration. */
export function foldersOf(
  { folders, folderVariables = [] }: Pick<AgentNeeds, 'folders' | 'folderVariables'>,
  env: NonNullable<AgentConfig['env']>,
): readonly string[] {
  const valueOf = (name: string) => env[name] || process.env[name] || null
  const home = env['HOME']
  const inHome = folders.map((folder) => {
    const [base, variable] = basesOfXdg.find(([start]) => folder.startsWith(start)) ?? []
    const moved = variable === undefined ? null : valueOf(variable)
    if (base !== undefined && moved !== null) return join(moved, folder.slice(base.length))
    return home ? folder.replace(/^~(?=\/)/, () => home) : folder
  })
  return [...inHome, ...folderVariables.flatMap((name) => valueOf(name) ?? [])]
}

const basesOfXdg = [
  ['~/.config/', 'XDG_CONFIG_HOME'],
  ['~/.local/share/', 'XDG_DATA_HOME'],
  ['~/.local/state/', 'XDG_STATE_HOME'],
] as const

/** A name that ends in `.json` is a file, any other a folder. */
async function makePlace(place: string): Promise<void> {
  const path = place.replace(/^~(?=\/)/, () => homedir())
  if (existsSync(path)) return
  // A read-only home has no such folders, and a program may do without.
  const make = (folder: string) => mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined)
  if (!path.endsWith('.json')) return void (await make(path))
  if ((await make(dirname(path))) === undefined && !existsSync(dirname(path))) return
  // Another run may have created it first.
  await writeFile(path, '{}\n', { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
