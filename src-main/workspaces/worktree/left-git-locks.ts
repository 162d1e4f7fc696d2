import { lstat, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cancellable } from '../../engine/ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { worktreeFolders } from './lock.ts'
import { ownRecord } from './own-worktree.ts'

/** git itself takes no collection for alive that began longer ago. */
const longestMaintenanceMs = 12 * 3_600_000

/**
 * Removes the locks that git holds on the index of worktrees below `root` and that are older than this process, and
 * those of a maintenance in their repositories that nobody can be at any more; the files. For the start of the service,
 * when what worked there has been ended: nobody would remove them. Every further agent would stumble over the ones,
 * and git would tidy up those repositories no more for the others.
 */
export async function removeLeftGitLocks(root: string, { signal }: Cancellable): Promise<readonly string[]> {
  const now = Date.now()
  const startedAt = now - process.uptime() * 1_000
  const removed: string[] = []
  const commons = new Set<string>()
  for (const path of await worktreeFolders(root)) {
    const record = await ownRecord(path, { signal })
    if (record === null) continue
    commons.add(dirname(dirname(record)))
    const file = join(record, 'index.lock')
    if (await removeOlder(file, startedAt)) removed.push(file)
  }
  for (const common of commons) {
    const file = join(common, 'objects', 'maintenance.lock')
    if (await removeOlder(file, now - longestMaintenanceMs)) removed.push(file)
  }
  return removed
}

async function removeOlder(file: string, than: number): Promise<boolean> {
  const entry = await orNull(lstat(file))
  if (entry?.isFile() !== true || entry.mtimeMs >= than) return false
  await rm(file, { force: true })
  return true
}
