import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FolderSize } from '../../../src-shared/contract/workspaces.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { hasCode, isMissing, orNull } from './file-errors.ts'

/** So many files of one folder are asked for at once. */
const atOnce = 64

/** More files than this would keep a person waiting. */
const patience = 500_000

/** How large the files of a worktree are. */
export async function measureFolder(path: string, { signal }: Cancellable): Promise<FolderSize | null> {
  const found = await estimateFolder(path, patience, { signal })
  return found && { size_bytes: found.size_bytes, size_complete: found.size_complete }
}

/** How large the files below a folder are together, and when any of them changed; null when there is no such folder. */
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

/** None of a folder that may not be read, or is gone. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES') || hasCode(error, 'EPERM')) return []
    throw error
  }
}
