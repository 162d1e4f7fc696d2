import { watch, type FSWatcher } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { hasCode } from '../files/file-errors.ts'
import { pathBytes } from '../commands/tree-paths.ts'
import { readGitLink } from '../commands/git-link.ts'

/** More folders than the system, or this service, lets be watched. */
export class TooManyFolders extends Error {
  override readonly name = 'TooManyFolders'
  readonly code = 'too_many_folders'
}

export interface FolderWatches {
  /** Watches a folder (`''`: the root) and all below it again, and releases what is no longer a folder. */
  cover(key: string): Promise<void>
  has(key: string): boolean
  /** How many folders are watched. */
  size(): number
  close(): void
}

export interface FolderWatchOptions {
  readonly root: string
  /** Folders that are not looked into. */
  readonly isLeftOut: (key: string) => boolean
  /** A name in a watched folder; `moved` when it came, went or was replaced. */
  readonly onEvent: (key: string, moved: boolean) => void
  readonly limit: number
}

/**
 * Watches folders one by one: Node's own `recursive` costs a watch for every file on Linux (2,101 for 2,000 files
 * in 100 folders), and cannot leave `node_modules` out. Keys are paths below the root as bytes, one character each.
 * A repository within the tree counts as one thing: of it, only where its HEAD lies is watched.
 */
export function createFolderWatches({ root, isLeftOut, onEvent, limit }: FolderWatchOptions): FolderWatches {
  const watchers = new Map<string, FSWatcher>()
  let closed = false

  const close = (key: string) => {
    watchers.get(key)?.close()
    watchers.delete(key)
  }
  const drop = (key: string) => {
    const below = key === '' ? '' : `${key}/`
    for (const one of [...watchers.keys()]) if (one === key || one.startsWith(below)) close(one)
  }
  /** False when there is no such folder. */
  const open = (key: string, path: Buffer, told: (name: string | null) => string): boolean => {
    if (watchers.size >= limit) throw new TooManyFolders(`More than ${limit} folders would have to be watched.`)
    const onError = () => {
      close(key)
      onEvent(key, true)
    }
    const watcher = startWatch(path, (event, name) => onEvent(told(name), event === 'rename'), onError)
    if (watcher !== null) watchers.set(key, watcher)
    return watcher !== null
  }
  const visit = async (key: string): Promise<void> => {
    if (closed || isLeftOut(key) || watchers.has(key)) return
    const below = (name: string) => (key === '' ? name : `${key}/${name}`)
    // First the watch, then the look: what comes in between is seen by one of them.
    const path = pathBytes(root, key)
    if (!open(key, path, (name) => (name === null ? key : below(name)))) return
    const entries = await listFolder(path)
    if (closed) return
    if (key !== '' && entries.some(({ name }) => name === '.git')) {
      close(key)
      const link = await readGitLink(path.toString())
      if (!closed) open(key, link === null ? pathBytes(root, below('.git')) : Buffer.from(link), () => key)
      return
    }
    const folders = entries.filter(({ name, isFolder }) => isFolder && name !== '.git')
    for (const { name } of folders) await visit(below(name))
  }

  return {
    cover: async (key) => {
      drop(key)
      await visit(key)
    },
    has: (key) => watchers.has(key),
    size: () => watchers.size,
    close: () => {
      closed = true
      drop('')
    },
  }
}

/** Watches one folder, not those in it; null when there is none to watch. Throws `TooManyFolders`. */
export function startWatch(
  path: Buffer | string,
  onEvent: (event: string, name: string | null) => void,
  onError: () => void,
): FSWatcher | null {
  try {
    const watcher = watch(path, { persistent: false, encoding: 'buffer' }, (event, name) => {
      onEvent(event, name === null ? null : name.toString('latin1'))
    })
    return watcher.on('error', onError)
  } catch (error) {
    if (['ENOSPC', 'EMFILE', 'ENFILE'].some((code) => hasCode(error, code))) {
      throw new TooManyFolders('The system lets no more folders be watched.', { cause: error })
    }
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

async function listFolder(path: Buffer): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
    return entries.map((entry) => ({ name: entry.name.toString('latin1'), isFolder: entry.isDirectory() }))
  } catch (error) {
    // It is gone or unreadable.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}
