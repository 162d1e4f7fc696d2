import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FSWatcher } from 'node:fs'
import type { Logger } from '../../platform/logging/log.ts'
import type { WatchEvent, WorktreeWatch } from '../../ports/diff-reader.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { GitError } from '../commands/git-error.ts'
import { areAllIgnored, ignoredFolders } from '../commands/ignored.ts'
import { pathBytes } from '../commands/tree-paths.ts'
import { readGitLink } from '../commands/git-link.ts'
import { createFolderWatches, startWatch, TooManyFolders, type FolderWatches } from './folder-watches.ts'
import { createEventBatcher, defaultDebounce, type ChangeBatch, type Timing } from './event-batcher.ts'
import { startPolling, type Polling } from './polling-watcher.ts'
import { createTreeWatch } from './tree-watch.ts'

export interface WatchOptions {
  readonly log?: Logger
  /** Runs what asks git about the worktree, in turn with whatever else does. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Folders to watch at most; with more the files are looked at now and then. Default 4,096. */
  readonly limit?: number
  readonly timing?: Timing
  /** How folders are watched; by default as the system does it best. */
  readonly folders?: typeof createFolderWatches
  readonly lookEveryMs?: number
}

/** Files in the worktree's root that are the service's own or say nothing of the worktree. */
const ignoredFiles = new Set(['.git', '.svc.lock'])
/** What changes in a worktree's git folder when its HEAD or index does. */
const gitStateFiles = new Set(['HEAD', 'index', 'ORIG_HEAD'])
const everything = ''
/** These systems tell of a whole tree by themselves. */
const watchesTrees = process.platform === 'darwin' || process.platform === 'win32'

export interface WatchOfWorktree extends WorktreeWatch {
  /** Where files are looked at now and then: soon. */
  lookSoon(): void
}

/** See `DiffReader.watch`. */
export async function watchWorktree(root: string, news: WatchEvent, options: WatchOptions): Promise<WatchOfWorktree> {
  const stop = new AbortController()
  const { signal } = stop
  const id = await idOf(root)
  if (id === null) throw new WorkspaceError('git_failed', `No worktree at ${root}.`)
  const { inTurn } = options
  const isStill = async () => (await idOf(root)) === id
  let how: ReturnType<WorktreeWatch['how']> = 'watching'
  let ignored: ReadonlySet<string> = new Set()
  let polling: Polling | null = null
  const asides: FSWatcher[] = []

  const create = options.folders ?? (watchesTrees ? createTreeWatch : createFolderWatches)
  const folders = create({
    root,
    isLeftOut: (key) => ignored.has(key),
    onEvent: (key, moved) => {
      if (!ignoredFiles.has(key)) gatherer.name(key, moved)
    },
    limit: options.limit ?? 4_096,
  })
  const release = () => {
    folders.close()
    for (const aside of asides.splice(0)) aside.close()
  }
  const end = () => {
    if (how === 'ended') return
    how = 'ended'
    release()
    stop.abort()
    news.onEnd()
  }
  const look = (reason: unknown) => {
    folders.close()
    if (how !== 'watching') return
    how = 'looking'
    options.log?.warn({ err: reason, root }, 'a worktree cannot be watched; it is looked at now and then')
    const every = options.lookEveryMs ?? 3_000
    polling = startPolling(root, { ...news, onEnd: end }, { signal, inTurn, isStill, every, log: options.log })
  }
  const cover = async (keys: readonly string[]) => {
    ignored = await inTurn(() => ignoredFolders(root, { signal }))
    for (const key of keys) await folders.cover(key)
  }
  const deal = async (gathered: ChangeBatch) => {
    // Another folder in its place is no longer what is watched.
    if (!(await isStill())) return end()
    const keys = [...gathered.keys.keys()]
    const anew =
      gathered.overflowed || keys.some(isIgnoreFile) ? [everything] : await newFolders(root, gathered, folders)
    if (anew.length > 0) await cover(anew)
    const isNews = gathered.git || gathered.overflowed || !(await inTurn(() => areAllIgnored(root, keys, { signal })))
    const isKnown = !gathered.git && !gathered.overflowed && !keys.some(isIgnoreFile) && !keys.includes(everything)
    if (isNews && !signal.aborted) news.onChange(isKnown ? keys : null)
  }
  const gatherer = createEventBatcher(options.timing ?? defaultDebounce, async (gathered) => {
    try {
      await deal(gathered)
    } catch (error) {
      if (signal.aborted) return
      if (!(await isStill())) return end()
      look(error)
      news.onChange(null)
    }
  })

  try {
    asides.push(...(await watchGit(root, () => (polling ? polling.lookSoon() : gatherer.git()))))
    await cover([everything])
  } catch (error) {
    if (!(error instanceof TooManyFolders) && !(error instanceof GitError)) throw error
    look(error)
  }
  return {
    how: () => how,
    lookSoon: () => polling?.lookSoon(),
    close: async () => {
      how = 'ended'
      release()
      stop.abort()
      await gatherer.close()
      await polling?.ended
    },
  }
}

/** Tells one worktree from another in its place, which may have got the same number of the file system. */
async function idOf(root: string): Promise<string | null> {
  const [folder, link] = await Promise.all([root, join(root, '.git')].map((path) => orNull(lstat(path))))
  return folder && link ? [folder.dev, folder.ino, link.ino, link.isDirectory() ? 0 : link.mtimeMs].join(' ') : null
}

const isIgnoreFile = (key: string): boolean => key === '.gitignore' || key.endsWith('/.gitignore')

/** New folders, removed or replaced watched ones, and folders that became a repository or stopped being one. */
async function newFolders(
  root: string,
  { keys }: ChangeBatch,
  folders: Pick<FolderWatches, 'has'>,
): Promise<readonly string[]> {
  const moved = [...new Set([...keys].filter(([, { moved }]) => moved).map(([key]) => key.replace(/\/\.git$/, '')))]
  const found = await Promise.all(
    moved.map(async (key) => folders.has(key) || ((await orNull(lstat(pathBytes(root, key))))?.isDirectory() ?? false)),
  )
  return moved.filter((_, number) => found[number])
}

/** Watches where a worktree's HEAD and index lie, and the log that every move of its HEAD is written to. */
async function watchGit(root: string, onMove: () => void): Promise<readonly FSWatcher[]> {
  const folder = (await readGitLink(root)) ?? join(root, '.git')
  const onEvent = (_event: string, name: string | null) => {
    if (name === null || gitStateFiles.has(name)) onMove()
  }
  const found = [folder, join(folder, 'logs')].map((path) => startWatch(path, onEvent, onMove))
  return found.filter((watcher) => watcher !== null)
}
