import { lstat, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { worktreeFolders } from './lock.ts'
import { ownRecord } from '../commands/own-worktree.ts'

/** Git itself considers a garbage collection dead after this time. */
const longestMaintenanceMs = 12 * 3_600_000
/** Git holds these locks while it writes one file, which takes seconds with very many branches. */
const longestWriteMs = 10 * 60_000

/**
 * Removes git's locks on worktrees below `root` and on their repositories' branches that are older than this process,
 * and locks of the repositories that are too old to be in use; returns the files. Called at the start of the service,
 * after leftover processes were ended, because no one else would remove them: they would stop every agent in the
 * worktree or on the branch, the user on a branch that is merged into, and git's own maintenance.
 */
export async function removeStaleGitLocks(root: string, { signal }: Cancellable): Promise<readonly string[]> {
  const now = Date.now()
  const startedAt = now - process.uptime() * 1_000
  const removed: string[] = []
  const commons = new Set<string>()
  for (const path of await worktreeFolders(root)) {
    const record = await ownRecord(path, { signal })
    if (record === null) continue
    commons.add(dirname(dirname(record)))
    removed.push(...(await removeOlder(await locksIn(record), startedAt)))
  }
  for (const common of commons) {
    const written = [join(common, 'packed-refs.lock'), join(common, 'config.lock')]
    removed.push(
      // A branch lock is held only for an instant.
      ...(await removeOlder(await locksIn(join(common, 'refs', 'heads'), { recursive: true }), startedAt)),
      ...(await removeOlder(written, now - longestWriteMs)),
      ...(await removeOlder([join(common, 'objects', 'maintenance.lock')], now - longestMaintenanceMs)),
    )
  }
  return removed
}

/**
 * Removes all of git's locks of a clone, whatever their age. Only while nothing works in it: after what was killed there
 * has ended.
 */
export async function removeGitLocks(repository: string): Promise<void> {
  const files = [
    ...(await locksIn(repository)),
    ...(await locksIn(join(repository, 'refs'), { recursive: true })),
    ...(await locksIn(join(repository, 'worktrees'), { recursive: true })),
  ]
  await Promise.all(files.map((file) => rm(file, { force: true })))
}

async function locksIn(folder: string, options: { readonly recursive?: boolean } = {}): Promise<readonly string[]> {
  const names = (await orNull(readdir(folder, options))) ?? []
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name))
}

/** Returns the removed files. */
async function removeOlder(files: readonly string[], than: number): Promise<readonly string[]> {
  const removed: string[] = []
  for (const file of files) {
    const entry = await orNull(lstat(file))
    if (entry?.isFile() !== true || entry.mtimeMs >= than) continue
    await rm(file, { force: true })
    removed.push(file)
  }
  return removed
}
