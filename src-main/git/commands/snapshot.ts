import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { lockFile, withoutLock } from './committed-lock.ts'
import { allButCopies, findCopies, unstageCopies } from './copied-files.ts'
import { copyIndex } from './own-index.ts'
import { readGit, runGit } from './run-git.ts'
import type { Git, GitOptions, GitOutput } from './run-git.ts'
import { excludeLockFile } from './status.ts'
import { makeTemporary } from './temporary-folder.ts'
import { largeAmong, type LargeKey } from './large-files.ts'
import { parentsOf, pathBytes, pathText } from './tree-paths.ts'
import type { UnreadFile } from './unread-files.ts'
import { readGitLink } from './git-link.ts'
import {
  addNestedFiles,
  addSubmodules,
  allButInner,
  findInner,
  linesOfLinks,
  listIndexAndUntracked,
  splitListing,
} from './nested.ts'

export interface Snapshot {
  /** The tree of all files that exist and are not ignored, staged or not. */
  readonly tree: string
  /** The tree of the index; files of an unfinished merge are taken from the disk. */
  readonly staged: string
  /** Environment for git commands on the index of that tree. */
  readonly env: Readonly<Record<string, string>>
  /** False if a file is unreadable, or a nested repository has no commit. */
  readonly complete: boolean
  /** Changed files that are too large; they are as in the index, or missing. */
  readonly left_out: readonly LargeFile[]
}

export interface LargeFile {
  readonly path: string
  readonly bytes: number
}

export interface SnapshotOptions extends Pick<GitOptions, 'signal'> {
  /** The folder of the repository, or of the worktree in it; by default the target of `.git`. */
  readonly git_dir?: string
  /** The folder is no worktree of that repository, so nothing in it is tracked. */
  readonly plain?: boolean
  /** `leave`: files of repositories inside the worktree are not part of it. Default `files`. */
  readonly nested?: 'files' | 'leave'
  /** Changed files that are larger are left out. */
  readonly max_file_bytes?: number
  /** The environment that says where new objects go; by default to the repository. */
  readonly objects?: Readonly<Record<string, string>>
}

// The original is about to be deleted, so the objects must be synced to disk, including files that git would skip or
// refuse.
const thorough = settingOptions([
  ['core.fsync', 'committed,loose-object'],
  ['core.fsyncMethod', 'batch'],
  ['core.safecrlf', 'false'],
  ['core.bare', 'false'],
])

/** Maximum bytes of a list of paths; a worktree may have a million files. */
const longList = 1024 * 1024 * 1024

/**
 * Takes a snapshot of a worktree's files without touching its index, and passes it to `use`. Its objects go to the
 * repository, where they survive git's garbage collection only if a ref leads to them.
 */
export async function withSnapshot<T>(
  worktree: string,
  options: SnapshotOptions,
  use: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return await withOwnIndex(worktree, options, async (git, env, copies) => {
    const index = await readIndex(git, copies)
    await addUnmerged(git, index.entries)
    const staged = await writeTree(git)
    const { complete, left_out } = await addEverything(worktree, git, index, { ...options, copies })
    return await use({ tree: await writeTree(git), staged, env, complete, left_out })
  })
}

/** Returns only the tree of a snapshot. `base`: the lock file is as in this commit, even if someone committed it. */
export async function readTree(
  worktree: string,
  options: SnapshotOptions & { readonly base?: string | null },
): Promise<string> {
  return await withOwnIndex(worktree, options, async (git, _env, copies) => {
    const index = await readIndex(git, copies)
    await addUnmerged(git, index.entries)
    await addEverything(worktree, git, index, { ...options, copies })
    if (index.hasLock && options.base !== undefined) await withoutLock(git, options.base)
    return await writeTree(git)
  })
}

/** Maximum size of a hashed file; a larger one is identified by its size and time. */
const maxHashedBytes = 1024 ** 3
const maxHashed = 1_000
const hashed = new Map<string, string>()

/** Adds files to the index by their IDs alone; hashes a file again only after it was written to. */
export async function addUnread(worktree: string, git: Git, files: readonly UnreadFile[]): Promise<void> {
  if (files.length === 0) return
  const entries: string[] = []
  for (const { path, mode, content, size } of files) {
    const key = `${worktree}\0${path}\0${content}`
    const standsIn = size > maxHashedBytes
    const hash = () =>
      standsIn ? git(['hash-object', '--stdin'], { input: content }) : git(['hash-object', '--', path])
    const id = hashed.get(key) ?? asId(await hash())
    if (hashed.size >= maxHashed) hashed.clear()
    hashed.set(key, id)
    entries.push(`${mode} ${id}\t${path}\0`)
  }
  await git(['update-index', '-z', '--index-info'], { input: entries.join('') })
}

async function withOwnIndex<T>(
  worktree: string,
  { signal, git_dir, plain = false, objects = {} }: SnapshotOptions,
  use: (git: Git, env: Snapshot['env'], copies: readonly string[]) => Promise<T>,
): Promise<T> {
  const gitDir =
    git_dir ??
    (await readGitLink(worktree)) ??
    (await readGit(worktree, ['rev-parse', '--path-format=absolute', '--git-dir'], { signal }))
  const temporary = await makeTemporary('snapshot')
  try {
    const index = join(temporary, 'index')
    if (!plain) await copyIndex(join(gitDir, 'index'), index)
    const env = { ...objects, GIT_INDEX_FILE: index }
    const git = gitOn({ worktree, git_dir: gitDir, env }, { signal })
    const copies = plain ? [] : await findCopies(worktree, { signal, git_dir: gitDir })
    await unstageCopies(git, copies)
    return await use(git, env, copies)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Runs git on the files of a worktree and an index of its own, which `env` names. */
export function gitOn(
  { worktree, git_dir, env }: { readonly worktree: string; readonly git_dir: string; readonly env: Snapshot['env'] },
  { signal }: Pick<GitOptions, 'signal'>,
): Git {
  const place = ['--git-dir', git_dir, '--work-tree', worktree, ...thorough]
  return (args, more = {}) =>
    runGit(worktree, [...place, ...args], { signal, env, access: 'write', maxOutput: longList, ...more })
}

/** Adds all files that exist and are not ignored; `complete` is false if some could not be read. */
async function addEverything(
  worktree: string,
  git: Git,
  { entries, links, untracked }: Index,
  options: SnapshotOptions & { readonly copies: readonly string[] },
): Promise<Pick<Snapshot, 'complete' | 'left_out'>> {
  const { signal, plain = false, nested: taken = 'files', copies, max_file_bytes } = options
  await uncover(worktree, git, entries)
  if (!plain) await addUntracked(worktree, git, await listUntracked(git))
  const inner = await findInner(worktree, { links, untracked })
  const large = max_file_bytes === undefined ? [] : await findLarge(worktree, git, untracked, max_file_bytes)
  const others = [...excludeLockFile, ...allButCopies(copies), ...allButInner(inner), ...allButLarge(large)]
  const add = ['add', '--all', '--sparse', '--ignore-errors', '--', ...others]
  const { exit_code } = await git(add, { accept: [0, 1] })
  await addSubmodules(worktree, git, inner, { signal })
  const largeInner = taken === 'files' ? await addNestedFiles(worktree, git, inner, { signal, max_file_bytes }) : []
  if (inner.nested.length > 0) await unstageCopies(git, copies)
  const left_out = [...large, ...largeInner].map(({ key, bytes }) => ({ path: pathText(key), bytes }))
  return { complete: exit_code === 0, left_out }
}

/** Finds changed and untracked files that are too large. */
async function findLarge(
  worktree: string,
  git: Git,
  untracked: readonly string[],
  limit: number,
): Promise<readonly LargeKey[]> {
  const { stdout } = await git(['diff-files', '--name-only', '--no-renames', '-z'])
  const changed = stdout.toString('latin1').split('\0').filter(Boolean)
  const files = untracked.filter((key) => !key.endsWith('/'))
  return await largeAmong(worktree, [...new Set([...changed, ...files])], limit)
}

const allButLarge = (large: readonly LargeKey[]): readonly string[] =>
  large.map(({ key }) => `:(exclude,top,literal)${pathText(key)}`)

async function writeTree(git: Git): Promise<string> {
  return asId(await git(['write-tree']))
}

export const asId = ({ stdout }: GitOutput): string => stdout.toString('utf8').trim()

export function settingOptions(settings: readonly (readonly [key: string, value: string])[]): readonly string[] {
  return settings.flatMap(([key, value]) => ['-c', `${key}=${value}`])
}

/** An index entry with an unusual state. */
interface Entry {
  /** From `git ls-files -v`: `M` unmerged, `S` not in the checkout, lower case assumed unchanged. */
  readonly mark: string
  readonly key: string
}

export interface Index {
  readonly entries: readonly Entry[]
  /** The paths of other repositories' commits. */
  readonly links: readonly string[]
  readonly untracked: readonly string[]
  /** Someone has added the lock file. */
  readonly hasLock: boolean
}

export async function readIndex(git: Git, copies: readonly string[]): Promise<Index> {
  const { stdout } = await git([...listIndexAndUntracked, '--', ':/', ...allButCopies(copies)])
  const listed = splitListing(stdout)
  const staged = listed.staged.filter((line) => !line.endsWith(`\t${lockFile}`))
  const unusual = staged.filter((line) => /^[a-zSM]/.test(line))
  return {
    entries: unusual.map((line) => ({ mark: line.charAt(0), key: line.slice(line.indexOf('\t') + 1) })),
    links: linesOfLinks(staged).map(({ key }) => key),
    untracked: listed.untracked.filter((key) => key !== lockFile),
    hasLock: staged.length < listed.staged.length,
  }
}

export async function addUnmerged(git: Git, entries: readonly Entry[]): Promise<void> {
  const keys = new Set(entries.filter(({ mark }) => /m/i.test(mark)).map(({ key }) => key))
  if (keys.size > 0) await addPaths(git, [...keys])
}

/** Makes git read files that are marked as unchanged, or as outside the checkout, but exist. */
export async function uncover(worktree: string, git: Git, entries: readonly Entry[]): Promise<void> {
  const taken: string[] = []
  const left: string[] = []
  for (const { mark, key } of entries) {
    if (/[a-z]/.test(mark)) taken.push(key)
    if (/s/i.test(mark) && (await orNull(lstat(pathBytes(worktree, key)))) !== null) left.push(key)
  }
  for (const [flag, keys] of [
    ['--no-assume-unchanged', taken],
    ['--no-skip-worktree', left],
  ] as const) {
    if (keys.length > 0) await git(['update-index', '-z', flag, '--stdin'], { input: asInput(keys) })
  }
}

/** Returns paths of HEAD that are no longer tracked. */
export async function listUntracked(git: Git): Promise<readonly string[]> {
  const listed = ['diff-index', '--cached', '--name-only', '--no-renames', '--diff-filter=D', '-z', 'HEAD', '--']
  // 128: HEAD has no commit yet.
  const { exit_code, stdout } = await git(listed, { accept: [0, 128] })
  return exit_code === 0
    ? stdout
        .toString('latin1')
        .split('\0')
        .filter((key) => key !== '' && key !== lockFile)
    : []
}

/** Adds files that are no longer tracked but still exist, even if they are ignored by now. */
export async function addUntracked(worktree: string, git: Git, keys: readonly string[]): Promise<void> {
  const there: string[] = []
  for (const key of keys) if (await isOwnFile(worktree, key)) there.push(key)
  if (there.length > 0) await addPaths(git, there)
}

/** Returns whether the path is a file or a symlink, not reached through a symlink. */
async function isOwnFile(worktree: string, key: string): Promise<boolean> {
  for (const parent of parentsOf(key)) {
    if ((await orNull(lstat(pathBytes(worktree, parent))))?.isDirectory() !== true) return false
  }
  const entry = await orNull(lstat(pathBytes(worktree, key)))
  return entry !== null && (entry.isFile() || entry.isSymbolicLink())
}

/** Adds these paths, ignored or not; returns false if some could not be read. */
export async function addPaths(git: Git, keys: readonly string[]): Promise<boolean> {
  const input = asInput(keys.map((key) => `:(top,literal)${key}`))
  const options = ['--all', '--force', '--sparse', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul']
  return (await git(['add', ...options], { input, accept: [0, 1] })).exit_code === 0
}

const asInput = (keys: readonly string[]): Buffer => Buffer.from(keys.map((key) => `${key}\0`).join(''), 'latin1')
