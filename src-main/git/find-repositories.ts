import { lstat, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Cancellable } from '../ports/cancellable.ts'
import type { NearbyRepository } from '../ports/repository-reader.ts'

/** Usual folders of repositories below the home folder. */
const usualPlaces = [
  ...['', 'code', 'Code', 'src', 'dev', 'git', 'projects', 'Projects', 'repos', 'work', 'workspace', 'Developer'],
  ...['Documents', 'Documents/GitHub', 'Documents/code', 'GitHub', 'source/repos'],
]
const ignored: ReadonlySet<string> = new Set(['node_modules', 'Library', 'AppData', 'snap'])
/**
 * Limits the search, because a home folder on a network, or with thousands of folders, must not delay the first
 * screen.
 */
const mostFolders = 1_000
const mostTime = 1_500
const mostFound = 20

/**
 * Lists the repositories in the usual folders below a home folder, those with the latest work first. Only looks for
 * `.git` and starts no git, because these repositories are not trusted yet.
 */
export async function findRepositories(home: string, { signal }: Cancellable): Promise<readonly NearbyRepository[]> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(mostTime)])
  const found = new Map<string, NearbyRepository>()
  let left = mostFolders
  const look = async (path: string): Promise<boolean> => {
    if (found.has(path)) return true
    const changed_at = await lastChange(path)
    if (changed_at === null) return false
    found.set(path, { path, name: basename(path), changed_at: new Date(changed_at).toISOString() })
    return true
  }
  const places = usualPlaces.map((place) => join(home, place))
  for (const place of places) {
    const inside = await foldersIn(place)
    for (const name of inside) {
      if (until.aborted || left-- <= 0) break
      const path = join(place, name)
      if (places.includes(path) || (await look(path)) || place === home) continue
      // People sort repositories by owner or customer.
      for (const inner of await foldersIn(path)) {
        if (until.aborted || left-- <= 0) break
        await look(join(path, inner))
      }
    }
  }
  signal.throwIfAborted()
  return [...found.values()].toSorted((one, other) => (one.changed_at < other.changed_at ? 1 : -1)).slice(0, mostFound)
}

/** Returns the names of real folders, not of links, which may lead anywhere. */
async function foldersIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.flatMap((entry) =>
    entry.isDirectory() && !entry.name.startsWith('.') && !ignored.has(entry.name) ? [entry.name] : [],
  )
}

/** Returns the time of the last work by git's own files; null if there is no repository. */
async function lastChange(path: string): Promise<number | null> {
  const git = await lstat(join(path, '.git')).catch(() => null)
  // A `.git` file belongs to a worktree or a submodule of another repository.
  if (!git?.isDirectory()) return null
  const index = await lstat(join(path, '.git', 'index')).catch(() => null)
  return Math.max(git.mtimeMs, index?.mtimeMs ?? 0)
}
