import { lstat, readdir, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode, isMissing, orNull } from './file-errors.ts'
import { openFolder, type Folder } from './folder.ts'

/** Removes those of these folders below a worktree that contain no files; leaves repositories. */
export async function removeEmptyFolders(worktree: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await using parent = await openFolder(worktree, dirname(path))
    await removeOne(parent, basename(path))
  }
}

async function removeOne(parent: Folder, name: string): Promise<void> {
  await using folder = await parent.child(name)
  if ((await orNull(lstat(join(folder.at, '.git')))) !== null) return
  for (const entry of await readdir(folder.at, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeOne(folder, entry.name)
  }
  await removeIfEmpty(join(parent.at, name))
}

/** Removes a folder if it exists and is empty. */
export async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST') && !isMissing(error)) throw error
  }
}
