import { lstat, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { worktreeFolders } from './lock.ts'
import { ownRecord } from '../commands/own-worktree.ts'

/** git itself takes no collection for alive that began longer ago. */
const longestMaintenanceMs = 12 * 3_600_000
/** git holds these while it writes one file, which takes seconds where there are very many branches. */
const longestWriteMs = 10 * 60_000

/**
 * Removes the locks that git holds on worktrees below `root` and on branches of their repositories and that are older
 * than this process, and those of their repositories that nobody can be at any more; the files. For the start of the
 * service, when what worked there has been ended: nobody would remove them. Every further agent would stumble over
 * those of its worktree and its branch, the person over that of a branch that is merged into, and git would tidy up
 * those repositories no more for the others.
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
      // A branch is locked for an instant, whoever moves it.
      ...(await removeOlder(await locksIn(join(common, 'refs', 'heads'), { recursive: true }), startedAt)),
      ...(await removeOlder(written, now - longestWriteMs)),
      ...(await removeOlder([join(common, 'objects', 'maintenance.lock')], now - longestMaintenanceMs)),
    )
  }
  return removed
}

async function locksIn(folder: string, options: { readonly recursive?: boolean } = {}): Promise<readonly string[]> {
  const names = (await orNull(readdir(folder, options))) ?? []
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name))
}

/** Those that were removed. */
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
