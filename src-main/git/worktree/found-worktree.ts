import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { WorktreeRequest } from '../../ports/workspaces.ts'
import { orNull } from '../files/file-errors.ts'
import { readGitLink } from '../commands/git-link.ts'
import { findRecord, repairWorktree } from '../commands/worktree.ts'
import { ownRecord } from '../commands/own-worktree.ts'
import { realpathOfExisting } from '../files/path-guard.ts'
import { folderState } from '../files/quarantine.ts'

/** A worktree that git made to the end and that belongs to this repository; mended where it or that was moved. */
export async function isHealthy(request: WorktreeRequest, common: string, { signal }: Cancellable): Promise<boolean> {
  const { repo_path: repo, path } = request
  if ((await orNull(lstat(path)))?.isDirectory() !== true || (await folderState(path)) !== 'filled') return false
  if (await isWhole(path, common, { signal })) return true
  const link = await readGitLink(path)
  // A link that leads to something else than its own record was put there by somebody: git would mend the wrong end.
  if (link === null || (await orNull(stat(link))) !== null || (await findRecord(common, path)) === null) return false
  await repairWorktree(repo, path, { signal })
  return await isWhole(path, common, { signal })
}

/** The same as it is found, without mending anything: mostly, only files are read. */
export async function isWhole(path: string, common: string, { signal }: Cancellable): Promise<boolean> {
  const record = await ownRecord(path, { signal })
  if (record === null || (await orNull(stat(join(record, 'HEAD')))) === null) return false
  if ((await realpathOfExisting(dirname(dirname(record)))) !== (await realpathOfExisting(common))) return false
  // It comes last, when all files are there.
  if ((await orNull(stat(join(record, 'index')))) === null) return false
  // git locks a worktree with this word while it makes it; a crash in between leaves it so.
  const locked = await orNull(readFile(join(record, 'locked'), 'utf8'))
  return locked === null || !locked.startsWith('initializing')
}
