import { randomUUID } from 'node:crypto'
import { mkdir, rm, utimes } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { fileState } from '../files/file-state.ts'
import { estimateFolder } from '../files/folder-size.ts'
import { configPlaceOf, programOverrides, userFolder } from './configured-programs.ts'
import { GitError } from './git-error.ts'
import { addNestedFiles, addSubmodules, allButInner, findInner } from './nested.ts'
import { allButCopies, findCopies, unstageCopies } from './copied-files.ts'
import { withoutLock } from './committed-lock.ts'
import { copyIndex, isPartial, ownObjectsEnv } from './own-index.ts'
import { peekHead } from './peek.ts'
import { readConfig, type Git, type GitOptions } from './run-git.ts'
import {
  addPaths,
  addUnmerged,
  addUnread,
  addUntracked,
  asId,
  gitOn,
  listUntracked,
  readIndex,
  settingOptions,
  uncover,
} from './snapshot.ts'
import { afterFields, excludeLockFile } from './status.ts'
import { makeTemporary } from './temporary-folder.ts'
import { allBut, findUnread, type UnreadFile } from './unread-files.ts'

/** A worktree's content in a separate index. */
interface WorktreeIndex {
  /** Environment in which git reads that index and its objects. */
  readonly env: Readonly<Record<string, string>>
  /** Writes the tree of that index and returns its ID. */
  writeTree(): Promise<string>
  /** Files of the tree that were hashed but not stored. */
  readonly unread: readonly UnreadFile[]
}

/**
 * Reads the content of worktrees as `readTree` does. Writes to neither the worktree's index nor the repository, except
 * that a partial clone keeps what git fetches.
 */
export interface WorktreeIndexes {
  /** Calls `use` with the present content of a worktree. */
  read<T>(worktree: string, place: IndexPlace, use: (index: WorktreeIndex) => Promise<T>): Promise<T>
  /** Removes what was kept of a worktree, which is about to be deleted. */
  forget(worktree: string): Promise<void>
}

interface IndexPlace extends Pick<GitOptions, 'signal'> {
  readonly git_dir: string
  /** The commit or tree that the content is compared with. */
  readonly base: string | null
}

/** Files that Copse copied and no one changed. */
interface Copies {
  readonly copies: readonly string[]
}

/** An index that a read has left for the next one. */
interface KeptIndex {
  readonly folder: string
  readonly env: WorktreeIndex['env']
  /** All outside of the files themselves that decides what the content is, before it was read (`stateOf`). */
  readonly state: string
  readonly timer: NodeJS.Timeout
  tree: string | null
}

/** An index as it was made. */
interface MadeIndex extends Pick<WorktreeIndex, 'env' | 'unread'> {
  /** Whether the next read can begin with it, because only ordinary files are in it. */
  readonly plain: boolean
}

const keptMs = 10 * 60_000
const maxKept = 16
/** Maximum bytes of one kept index and its objects. */
const maxKeptBytes = 64 * 1024 * 1024
/** Files that decide how others are read. */
const rules = /(?:^|\/)\.git(?:ignore|attributes|modules)$/

// Temporary objects: one pack for all, because many small files take longer; neither compressed nor synced.
const quick = settingOptions([
  ['core.fsync', 'none'],
  ['core.bigFileThreshold', '1'],
  ['core.looseCompression', '0'],
  ['pack.compression', '0'],
])

/** Where kept indexes lie, below Copse's data folder. */
const keptFolder = (dataDir: string): string => join(dataDir, 'indexes')

/** Removes what an ended service has kept. */
export async function removeLeftIndexes(dataDir: string): Promise<void> {
  await rm(keptFolder(dataDir), { recursive: true, force: true })
}

/**
 * Creates the reader. With `dataDir` it keeps the index of a worktree for ten minutes, so that the next read takes up
 * only the files that have changed since.
 */
export function createWorktreeIndexes(dataDir: string | undefined): WorktreeIndexes {
  const kept = new Map<string, KeptIndex>()

  // Each reader takes the index for itself, so another one of the same worktree makes its own.
  const take = (worktree: string): KeptIndex | null => {
    const found = kept.get(worktree) ?? null
    kept.delete(worktree)
    clearTimeout(found?.timer)
    return found
  }
  const drop = async (worktree: string): Promise<void> => {
    const found = take(worktree)
    if (found) await remove(found.folder)
  }
  const keep = async (worktree: string, index: Omit<KeptIndex, 'timer'>): Promise<void> => {
    await drop(worktree)
    const [oldest] = kept.keys()
    if (kept.size >= maxKept && oldest !== undefined) await drop(oldest)
    // What can't be removed now is removed by the next start.
    const timer = setTimeout(() => void drop(worktree).catch(() => undefined), keptMs).unref()
    kept.set(worktree, { ...index, timer })
  }

  /** Takes what was kept and brings it up to date; removes it where it is of no use. */
  const takeCurrent = async (
    worktree: string,
    state: string | null,
    place: IndexPlace & Copies,
  ): Promise<KeptIndex | null> => {
    const known = take(worktree)
    if (known === null) return null
    let current: KeptIndex | null = null
    try {
      if (known.state === state) current = await refresh(worktree, known, place)
      return current
    } finally {
      if (current === null) await remove(known.folder)
    }
  }

  const read = async <T>(
    worktree: string,
    { git_dir, base, signal }: IndexPlace,
    use: (index: WorktreeIndex) => Promise<T>,
  ): Promise<T> => {
    const copies = await findCopies(worktree, { signal, git_dir })
    const state = dataDir === undefined ? null : await stateOf(worktree, git_dir, { signal, copies })
    const current = await takeCurrent(worktree, state, { git_dir, base, signal, copies })
    const folder = current?.folder ?? (await makeFolder(dataDir))
    let next: Omit<KeptIndex, 'timer'> | null = null
    try {
      const made = current
        ? { env: current.env, unread: [], plain: true }
        : await makeIndex(worktree, folder, { signal, git_dir, base, copies })
      const { env, unread, plain } = made
      const git = quickGit({ worktree, git_dir, env }, { signal })
      let tree = current?.tree ?? null
      const lenient = unread.length > 0 ? ['--missing-ok'] : []
      const writeTree = async () => (tree ??= asId(await git(['write-tree', ...lenient])))
      const result = await use({ env, unread, writeTree })
      if (plain && state !== null) next = { folder, env, state, tree }
      return result
    } finally {
      if (next !== null && (await isSmall(folder))) await keep(worktree, next)
      else await remove(folder)
    }
  }
  return { read, forget: drop }
}

/**
 * Brings a kept index up to date with the files. Returns null where only a new one can tell what belongs to it, or git
 * could not.
 */
async function refresh(
  worktree: string,
  index: KeptIndex,
  { git_dir, signal, copies }: IndexPlace & Copies,
): Promise<KeptIndex | null> {
  const git = quickGit({ worktree, git_dir, env: index.env }, { signal })
  const began = Date.now()
  const changed = ['--modified', '--deleted', '--others', '--exclude-standard']
  try {
    const { stdout } = await git(['ls-files', '-z', ...changed, '--', ...excludeLockFile, ...allButCopies(copies)])
    const keys = [...new Set(stdout.toString('latin1').split('\0').slice(0, -1))]
    if (keys.length === 0) return index
    if (keys.some((key) => key.endsWith('/') || rules.test(key))) return null
    if ((await findUnread(worktree, keys)).size > 0 || !(await addPaths(git, keys))) return null
    await backdate(index.env, began)
    return { ...index, tree: null }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GitError) return null
    throw error
  }
}

async function makeIndex(
  worktree: string,
  folder: string,
  { signal, git_dir, base, copies }: IndexPlace & Copies,
): Promise<MadeIndex> {
  const { common } = await configPlaceOf(git_dir)
  const began = Date.now()
  const objects = join(common, 'objects')
  const index = join(folder, 'index')
  await copyIndex(join(git_dir, 'index'), index)
  const partial = await isPartial(objects)
  const env = { GIT_INDEX_FILE: index, ...(partial ? {} : await ownObjectsEnv(folder, objects)) }
  const git = quickGit({ worktree, git_dir, env }, { signal })
  await unstageCopies(git, copies)
  const [found, untracked, changed] = await Promise.all([
    readIndex(git, copies),
    listUntracked(git),
    listChanged(git, copies),
  ])
  const { entries, links } = found
  const names = [...changed, ...found.untracked]
  const inner = await findInner(worktree, found)
  const unread = await findUnread(worktree, names)
  const isRead = (key: string): boolean => !unread.has(key)
  await addUnmerged(
    git,
    entries.filter(({ key }) => isRead(key)),
  )
  await uncover(worktree, git, entries)
  await addUntracked(worktree, git, untracked.filter(isRead))
  const others = [...excludeLockFile, ...allButCopies(copies), ...allBut([...unread.values()]), ...allButInner(inner)]
  // Of a worktree without changes there is nothing to take up.
  const isChanged = names.length > 0 || entries.length > 0 || links.length > 0
  const add = ['add', '--all', '--sparse', '--ignore-errors', '--', ...others]
  const isWhole = !isChanged || (await git(add, { accept: [0, 1] })).exit_code === 0
  await addSubmodules(worktree, git, inner, { signal })
  await addNestedFiles(worktree, git, inner, { signal })
  if (inner.nested.length > 0) await unstageCopies(git, copies)
  await addUnread(worktree, git, [...unread.values()])
  if (found.hasLock) await withoutLock(git, base)
  await backdate(env, began)
  const isOrdinary =
    entries.length + links.length + inner.nested.length + inner.worktrees.length + unread.size === 0 && !found.hasLock
  return { env, unread: [...unread.values()], plain: isOrdinary && !partial && isWhole }
}

/**
 * Lists the tracked files that differ from the index. Files of the index's own second can only be told by their content:
 * `status` notes what it has read in the index, so that the commands that follow need not read all of them again.
 */
async function listChanged(git: Git, copies: readonly string[]): Promise<readonly string[]> {
  const form = ['--porcelain=v2', '-z', '--no-renames', '--untracked-files=no']
  const { stdout } = await git(['status', ...form, '--', ...excludeLockFile, ...allButCopies(copies)])
  const lines = stdout.toString('latin1').split('\0')
  return lines.flatMap((line) => {
    const isUnmerged = line.startsWith('u')
    if (!isUnmerged && !(line.startsWith('1') && line.charAt(3) !== '.')) return []
    return afterFields(line, isUnmerged ? 10 : 8)
  })
}

/**
 * Gives the index a time before its files were read: git compares the content of all that is not older, and sees in the
 * times of a file no more than the second.
 */
async function backdate({ GIT_INDEX_FILE: index = '' }: WorktreeIndex['env'], began: number): Promise<void> {
  const seconds = Math.floor(began / 1_000)
  // A worktree in which nothing was ever staged has none.
  await orNull(utimes(index, seconds, seconds))
}

/**
 * Returns a value that changes with the index, the commit, the configuration, the programs that may run and what git
 * ignores; null if unknown.
 */
async function stateOf(
  worktree: string,
  git_dir: string,
  { signal, copies }: Pick<GitOptions, 'signal'> & Copies,
): Promise<string | null> {
  const head = await peekHead(worktree)
  if (head === null) return null
  const place = await configPlaceOf(git_dir)
  const settings = await readConfig(place, { signal })
  // The programs that may run change when a person trusts others, without any file.
  const overrides = await programOverrides(worktree, [], (of) => readConfig(of, { signal }))
  const outer = (key: string, name: string): string => {
    const value = settings.findLast((setting) => setting.key === key)?.value
    return value?.replace(/^~(?=\/)/, homedir()) ?? join(userFolder(), name)
  }
  const files = [
    join(git_dir, 'index'),
    join(place.common, 'info', 'exclude'),
    join(place.common, 'info', 'attributes'),
    outer('core.excludesfile', 'ignore'),
    outer('core.attributesfile', 'attributes'),
  ]
  return JSON.stringify([head, settings, overrides, copies, await Promise.all(files.map(fileState))])
}

const quickGit = (...[place, options]: Parameters<typeof gitOn>): Git => {
  const git = gitOn(place, options)
  return (args, more) => git([...quick, ...args], more)
}

async function makeFolder(dataDir: string | undefined): Promise<string> {
  if (dataDir === undefined) return await makeTemporary('snapshot')
  const folder = join(keptFolder(dataDir), randomUUID())
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

async function isSmall(folder: string): Promise<boolean> {
  const size = await estimateFolder(folder, 1_000, new AbortController())
  return size !== null && size.size_complete && size.size_bytes <= maxKeptBytes
}

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })
