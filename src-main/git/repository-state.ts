import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { RepositoryRunKind } from '../../src-shared/contract/projects.ts'
import type { RepositoryPrograms, RepositoryRun } from '../ports/repository-reader.ts'
import type { RepositoryState } from '../ports/repository-state.ts'
import { hasCode, orNull } from './files/file-errors.ts'
import { findConfig, programsIn, type ConfigEntry } from './commands/configured-programs.ts'
import { peekNoRefs } from './commands/peek.ts'
import { readConfig } from './commands/run-git.ts'
import { readHookHashes } from './commands/trusted-hooks.ts'
import { readRefs } from './elsewhere/all-refs.ts'
import { readLogSizes } from './elsewhere/head-logs.ts'
import { logsKey, stashKey, timeKey } from './elsewhere/run-traces.ts'
import { readStash } from './elsewhere/stash-list.ts'
import { requireRepository } from './worktree/moved-repository.ts'

const infoFiles = ['attributes', 'exclude', 'grafts', 'sparse-checkout']
/** Files that lead git to other objects, or hide some. */
const commonFiles = ['objects/info/alternates', 'shallow', 'commondir']
/** A longer file is represented by its size and time. */
const maxHashedBytes = 4 * 1024 * 1024

/** Hashes the files that control git in a repository beside the work, by paths relative to the common git folder. */
export async function readRepositoryState(
  worktree: string,
  { signal, refs: all }: Cancellable & { readonly refs: boolean },
): Promise<RepositoryState> {
  const readAt = Date.now()
  const place = await findConfig(worktree, [])
  if (place === null) return {}
  const { common, git_dir } = place
  const [entries, refs, stash, logs] = await Promise.all([
    readConfig(place, { signal }),
    all ? readRefs(worktree, { signal }) : readReplaced(worktree, common, signal),
    all ? readStash(worktree, common, { signal }) : null,
    all ? readLogSizes(common) : null,
  ])
  const state = new Map<string, string>()
  const worktreeConfig = relative(common, join(git_dir, 'config.worktree'))
  for (const [path, scope] of [
    ['config', 'local'],
    [worktreeConfig, 'worktree'],
  ] as const) {
    // Branch settings change with every task.
    const told = entries.filter((one) => one.scope === scope && !one.key.startsWith('branch.'))
    if (told.length > 0) state.set(path, hashOf(JSON.stringify(told.map(({ key, value }) => [key, value]))))
  }
  for (const [ref, value] of refs) state.set(ref, value)
  if (stash !== null) {
    state.set(stashKey, stash.map(({ id }) => id).join(' '))
    state.set(timeKey, String(readAt)).set(logsKey, JSON.stringify(logs))
  }
  const files = [
    ...[...new Set([common, git_dir])].flatMap((folder) => infoFiles.map((name) => join(folder, 'info', name))),
    ...commonFiles.map((name) => join(common, name)),
  ]
  const hooks = await hookFiles(worktree, common, entries)
  for (const file of [...files, ...hooks]) {
    const hash = await hashFile(file)
    if (hash !== null) state.set(relative(common, file), hash)
  }
  return Object.fromEntries(state)
}

/** Lists the refs that show one object for another, each with its commit. */
async function readReplaced(
  worktree: string,
  common: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const prefix = 'refs/replace/'
  if (await peekNoRefs(common, prefix)) return new Map()
  const all = await readRefs(worktree, { signal })
  return new Map([...all].filter(([ref]) => ref.startsWith(prefix)))
}

/** Reads which programs the repository's own configuration makes git run. */
export async function readPrograms(repo: string, { signal }: Cancellable): Promise<RepositoryPrograms> {
  const common = await requireRepository(repo, { signal })
  const configured = programsIn(await readConfig({ common, git_dir: common }, { signal }))
  return { common, programs: { ...configured, ...(await readHookHashes(common)) } }
}

const runKinds: readonly (readonly [pattern: RegExp, kind: RepositoryRunKind])[] = [
  [/^filter\..*\.(?:clean|smudge|process)$/s, 'filter'],
  [/^merge\..*\.driver$/s, 'merge'],
  [/^diff\.(?:external|.*\.(?:command|textconv))$/s, 'diff'],
  [/^core\.fsmonitor$/, 'fsmonitor'],
  [/^core\.hookspath$/, 'hook'],
  [
    /^(?:core\.(?:sshcommand|gitproxy|editor|pager|askpass)|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program)$/s,
    'other',
  ],
]

/** Lists what a repository's own configuration and hooks would make git run. */
export async function readRuns(repo: string, { signal }: Cancellable): Promise<readonly RepositoryRun[]> {
  const common = await requireRepository(repo, { signal })
  const entries = await readConfig({ common, git_dir: common }, { signal })
  const configured = entries
    .filter(({ scope }) => scope === 'local' || scope === 'worktree')
    .flatMap(({ key, value }) => {
      const kind = runKinds.find(([pattern]) => pattern.test(key))?.[1]
      const isOff = value === '' || (kind === 'fsmonitor' && /^(?:false|no|off|0)$/i.test(value))
      return kind === undefined || isOff ? [] : [{ kind, what: `${key} = ${value}` }]
    })
  const hooks = await hookFiles(join(common, 'no-worktree'), common, entries)
  return [...configured, ...hooks.map((file) => ({ kind: 'hook' as const, what: relative(common, file) }))]
}

/** Lists hooks except those in the worktree itself, which are part of its diff. */
async function hookFiles(
  worktree: string,
  common: string,
  entries: readonly ConfigEntry[],
): Promise<readonly string[]> {
  const configured = entries.findLast(({ key }) => key === 'core.hookspath')?.value
  const folders = new Set([join(common, 'hooks'), ...(configured ? [resolve(worktree, configured)] : [])])
  const found: string[] = []
  for (const folder of folders) {
    if (!relative(worktree, folder).startsWith('..')) continue
    const names = await orNull(readdir(folder)).catch(() => null)
    found.push(...(names ?? []).filter((name) => !name.endsWith('.sample')).map((name) => join(folder, name)))
  }
  return found
}

async function hashFile(file: string): Promise<string | null> {
  try {
    const { size, mode, mtimeMs } = await lstat(file)
    const content = size > maxHashedBytes ? `${size} ${mtimeMs}` : await readFile(file)
    return `${mode & 0o777} ${hashOf(content)}`
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP'].some((code) => hasCode(error, code))) return null
    throw error
  }
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
