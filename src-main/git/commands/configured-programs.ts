import { AsyncLocalStorage } from 'node:async_hooks'
import { lstat, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { ConfiguredPrograms } from '../../ports/repository-reader.ts'
import { orNull } from '../files/file-errors.ts'
import { fileState } from '../files/file-state.ts'
import { readGitLink } from './git-link.ts'
import { hasNewHooks } from './trusted-hooks.ts'

/** Returns the programs that a repository (by its common folder) had when it was added, null if it was not added. */
export type TrustedPrograms = (common: string) => ConfiguredPrograms | null

export interface ConfigEntry {
  readonly scope: string
  readonly key: string
  readonly value: string
}

const trust = new AsyncLocalStorage<TrustedPrograms>()

/** Runs `work` so that git starts only programs of a repository's configuration that `trusted` returns. */
export const withTrust = <T>(trusted: TrustedPrograms, work: () => T): T => trust.run(trusted, work)

const programKey = /^(?:filter\..*\.(?:clean|smudge|process|required)|merge\..*\.driver|core\.hookspath)$/s

/** Programs that only an exchange with a remote starts. What stands for them now is not used if it is another. */
const remoteProgramKey = /^core\.sshcommand$/

/** Returns whether the repository itself has the setting, not the user's or the machine's configuration. */
const isOwn = ({ scope }: ConfigEntry): boolean => scope === 'local' || scope === 'worktree'

/** Returns the programs that the repository's own configuration names; the last value of a key counts. */
export function programsIn(entries: readonly ConfigEntry[]): ConfiguredPrograms {
  const isProgram = (key: string) => programKey.test(key) || remoteProgramKey.test(key)
  const own = entries.filter((entry) => isOwn(entry) && isProgram(entry.key))
  return Object.fromEntries(own.map(({ key, value }) => [key, value]))
}

/** Parses `git config --list --show-scope -z`; skips the settings that Copse passes to the command. */
function parseConfig(output: Buffer): readonly ConfigEntry[] {
  const fields = output.toString('utf8').split('\0')
  const entries: ConfigEntry[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', setting = ''] = [fields[at], fields[at + 1]]
    const end = setting.indexOf('\n')
    // A key without a value counts as true.
    if (scope === 'command') continue
    entries.push({
      scope,
      key: end < 0 ? setting : setting.slice(0, end),
      value: end < 0 ? 'true' : setting.slice(end + 1),
    })
  }
  return entries
}

export const listConfig = ['config', '--list', '--show-scope', '-z', '--includes'] as const

/** Returns settings, as keys and values, that keep untrusted programs of the repository from running. */
export async function programOverrides(
  cwd: string,
  args: readonly string[],
  read: (place: ConfigPlace) => Promise<readonly ConfigEntry[]>,
): Promise<readonly (readonly [key: string, value: string])[]> {
  const trusted = trust.getStore()
  if (!trusted) return []
  const place = await findConfig(cwd, args)
  if (place === null) return []
  const entries = await read(place)
  const programs = Object.entries(programsIn(entries)).filter(([key]) => programKey.test(key))
  if (programs.length === 0) return []
  const known = trusted(place.common) ?? {}
  const others = new Map(entries.filter((entry) => !isOwn(entry)).map(({ key, value }) => [key, value]))
  return programs
    .filter(([key, value]) => known[key] !== value)
    .map(([key]) => [key, known[key] ?? others.get(key) ?? harmless(key, place.common)] as const)
}

/** Returns what the repository itself sets, if it is what it was when the repository was trusted; else null. */
export function trustedSetting(common: string, key: string, entries: readonly ConfigEntry[]): string | null {
  const value = entries.findLast((entry) => isOwn(entry) && entry.key === key)?.value
  const trusted = trust.getStore()
  return value !== undefined && (!trusted || trusted(common)?.[key] === value) ? value : null
}

/** Returns whether the repository's hooks may run: all of them are as they were when it was trusted. */
export async function mayRunHooks(cwd: string, args: readonly string[]): Promise<boolean> {
  const trusted = trust.getStore()
  const place = trusted ? await findConfig(cwd, args) : null
  const programs = place && trusted?.(place.common)
  return !place || !programs || !(await hasNewHooks(place.common, programs))
}

/** Returns the value that disables a key. */
function harmless(key: string, common: string): string {
  if (key === 'core.hookspath') return join(common, 'hooks')
  // An empty driver would accept our side as a clean merge, so this names git's own text merge.
  if (key.startsWith('merge.')) return 'git merge-file --marker-size=%L %A %O %B'
  return key.endsWith('.required') ? 'false' : ''
}

export interface ConfigPlace {
  readonly git_dir: string
  readonly common: string
}

interface ReadConfig {
  readonly fingerprint: string
  readonly entries: readonly ConfigEntry[]
}

const maxRemembered = 1_000
/** By the git folder of a worktree, or by the common folder for all worktrees that have no configuration of their own. */
const configCache = new Map<string, ReadConfig>()

/** Returns the configuration of all scopes. `list` reads it, and is called only if it has changed. */
export async function readEntries(
  place: ConfigPlace,
  list: (place: ConfigPlace) => Promise<Buffer>,
): Promise<readonly ConfigEntry[]> {
  const fingerprint = await fingerprintOf(place)
  const known = [place.git_dir, place.common].map((folder) => configCache.get(folder))
  const current = known.find((one) => one?.fingerprint === fingerprint)
  if (current) return current.entries
  const entries = parseConfig(await list(place))
  // The fingerprint does not cover files that the configuration includes.
  const includes = entries.some((entry) => isOwn(entry) && /^include(?:if)?\./.test(entry.key))
  if (configCache.size >= maxRemembered) configCache.clear()
  configCache.delete(place.git_dir)
  if (includes) return entries
  // A condition may hold for one worktree alone; so does a configuration of its own, which the fingerprint tells.
  const isShared = entries.every(({ key }) => !key.startsWith('includeif.'))
  configCache.set(isShared ? place.common : place.git_dir, { fingerprint, entries })
  return entries
}

async function fingerprintOf({ git_dir, common }: ConfigPlace): Promise<string> {
  const own = [join(common, 'config'), join(common, 'config.worktree'), join(git_dir, 'config.worktree')]
  const files = [...own, ...outerFiles()]
  return (await Promise.all(files.map(fileState))).join(' ')
}

/** Where git keeps a user's files besides `.gitconfig`. */
export const userFolder = (): string => join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'git')

/** The configuration of the user and of the machine, where git looks for it. */
function outerFiles(): readonly string[] {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = process.env
  const users = [join(homedir(), '.gitconfig'), join(userFolder(), 'config')]
  return [...(GIT_CONFIG_GLOBAL === undefined ? users : [GIT_CONFIG_GLOBAL]), GIT_CONFIG_SYSTEM ?? '/etc/gitconfig']
}

/** Finds the repository that git would work on, as git looks for it; null if there is none. */
export async function findConfig(cwd: string, args: readonly string[]): Promise<ConfigPlace | null> {
  const at = args.findIndex((arg) => arg === '--git-dir' || arg.startsWith('--git-dir='))
  const given = at < 0 ? null : (args[at]?.split('=', 2)[1] ?? args[at + 1] ?? null)
  if (given !== null) return await configPlaceOf(resolve(cwd, given))
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const link = await readGitLink(folder)
    if (link !== null) return await configPlaceOf(link)
    if ((await orNull(lstat(join(folder, '.git'))))?.isDirectory()) return await configPlaceOf(join(folder, '.git'))
    if ((await orNull(stat(join(folder, 'HEAD')))) && (await orNull(stat(join(folder, 'objects')))))
      return await configPlaceOf(folder)
    if (dirname(folder) === folder) return null
  }
}

/** Returns the folders that hold the configuration of the repository or worktree with this git folder. */
export async function configPlaceOf(git_dir: string): Promise<ConfigPlace> {
  const common = await orNull(readFile(join(git_dir, 'commondir'), 'utf8'))
  return { git_dir, common: common === null ? git_dir : resolve(git_dir, common.trimEnd()) }
}
