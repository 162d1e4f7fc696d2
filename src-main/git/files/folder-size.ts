import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FolderSize } from '../../../src-shared/contract/workspaces.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { hasCode, isMissing, orNull } from './file-errors.ts'

/** Number of files of one folder that are measured at once. */
const atOnce = 64

/** Maximum number of files, so that a person need not wait long. */
const patience = 500_000

/** Measures the files of a worktree. */
export async function measureFolder(path: string, { signal }: Cancellable): Promise<FolderSize | null> {
  const found = await estimateFolder(path, patience, { signal })
  return found && { size_bytes: found.size_bytes, size_complete: found.size_complete }
}

/**
 * Returns the total size of the files below a folder and the time of the last change; null if there is no such
 * folder.
 */
export async function estimateFolder(
  path: string,
  limit: number,
  { signal }: Cancellable,
): Promise<(FolderSize & { readonly changed_at: string }) | null> {
  const own = await orNull(lstat(path))
  if (own === null) return null
  let [size, changed, left] = [0, own.mtimeMs, limit]
  const folders = [path]
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    const names = await namesIn(folder)
    for (let at = 0; at < names.length && left > 0; at += atOnce) {
      signal.throwIfAborted()
      const places = names.slice(at, at + Math.min(atOnce, left)).map((name) => join(folder, name))
      left -= names.slice(at, at + atOnce).length
      for (const [index, entry] of (await Promise.all(places.map((place) => orNull(lstat(place))))).entries()) {
        if (entry === null) continue
        size += entry.isFile() ? entry.size : 0
        changed = Math.max(changed, entry.mtimeMs)
        if (entry.isDirectory()) folders.push(places[index] ?? folder)
      }
    }
  }
  return { size_bytes: size, size_complete: left > 0, changed_at: new Date(Math.floor(changed)).toISOString() }
}

/** Returns no names for a folder that is unreadable or gone. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES') || hasCode(error, 'EPERM')) return []
    throw error
  }
}
