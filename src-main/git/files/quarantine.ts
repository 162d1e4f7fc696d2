import { lstat, readdir, rename, rmdir } from 'node:fs/promises'
import { orNull } from './file-errors.ts'

/** Returns whether a folder has content, is empty or does not exist. */
export async function folderState(path: string): Promise<'missing' | 'empty' | 'filled'> {
  const entry = await orNull(lstat(path))
  if (entry === null) return 'missing'
  // Don't follow symlinks: their target is outside our control.
  if (!entry.isDirectory()) return 'filled'
  const entries = await orNull(readdir(path))
  return entries?.length === 0 ? 'empty' : 'filled'
}

/**
 * Moves whatever is at `path` to the first free `{path}.broken-{n}`, so that nothing in it is lost; returns the new
 * path.
 */
export async function quarantine(path: string): Promise<string | null> {
  const state = await folderState(path)
  if (state === 'missing') return null
  if (state === 'empty') {
    await rmdir(path)
    return null
  }
  for (let number = 1; ; number += 1) {
    const aside = `${path}.broken-${number}`
    if ((await folderState(aside)) !== 'missing') continue
    await rename(path, aside)
    return aside
  }
}
