import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { pathBytes, pathText } from './tree-paths.ts'
import { orNull } from '../files/file-errors.ts'

/**
 * Refuses to commit files that are hard links to a file of Copse's data folder, because its keys and its database
 * would be published with the work. `keys` are paths in the worktree as bytes. Throws `outside_worktree`.
 */
export async function refuseDataLinks(dataDir: string, worktree: string, keys: readonly string[]): Promise<void> {
  const linked: { readonly key: string; readonly id: string }[] = []
  for (const key of keys) {
    const entry = await orNull(lstat(pathBytes(worktree, key)))
    if (entry?.isFile() && entry.nlink > 1) linked.push({ key, id: `${entry.dev} ${entry.ino}` })
  }
  if (linked.length === 0) return
  const guarded = await idsIn(dataDir)
  const found = linked.filter(({ id }) => guarded.has(id)).map(({ key }) => pathText(key))
  if (found.length === 0) return
  const which = found.slice(0, 10).join(', ')
  throw new WorkspaceError(
    'outside_worktree',
    `${which} in ${worktree} leads into Copse's data folder by a hard link, so it is not committed. Delete it there.`,
  )
}

/** Returns the file IDs of the data folder and of its `secrets`; below them are only worktrees and logs. */
async function idsIn(dataDir: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (const folder of [dataDir, join(dataDir, 'secrets')]) {
    for (const name of (await orNull(readdir(folder))) ?? []) {
      const entry = await orNull(stat(join(folder, name)))
      if (entry?.isFile()) ids.add(`${entry.dev} ${entry.ino}`)
    }
  }
  return ids
}
