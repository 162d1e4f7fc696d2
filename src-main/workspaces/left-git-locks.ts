import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cancellable } from '../engine/ports.ts'
import { orNull } from './file-errors.ts'
import { worktreeFolders } from './lock.ts'
import { ownRecord } from './own-worktree.ts'

/**
 * Removes the locks that git holds on the index of worktrees below `root` and that are older than this process; the
 * files. For the start of the service, when what worked there has been ended: nobody would remove them any more, and
 * every further agent would stumble over them.
 */
export async function removeLeftGitLocks(root: string, { signal }: Cancellable): Promise<readonly string[]> {
  const startedAt = Date.now() - process.uptime() * 1_000
  const removed: string[] = []
  for (const path of await worktreeFolders(root)) {
    const record = await ownRecord(path, { signal })
    if (record === null) continue
    const file = join(record, 'index.lock')
    const entry = await orNull(lstat(file))
    if (entry?.isFile() !== true || entry.mtimeMs >= startedAt) continue
    await rm(file, { force: true })
    removed.push(file)
  }
  return removed
}
