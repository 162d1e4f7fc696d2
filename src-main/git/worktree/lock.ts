import { constants } from 'node:fs'
import { copyFile, link, lstat, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { identify, isAlive } from '../../platform/process/process.ts'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { WorktreeLock } from '../../ports/worktree-locks.ts'
import { hasCode, isMissing, isTaken, orNull } from '../files/file-errors.ts'
import { openFolder, type Folder } from '../files/folder.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { quarantine } from '../files/quarantine.ts'

const lockName = '.svc.lock'
/** Folder of temporary worktrees in the workspace root; they belong to no task. */
export const scratchFolder = '.scratch'
/** No lock is longer, so a longer file is something else. */
const longest = 4_096
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

const Holder = z.object({ pid: z.int().positive(), started: z.string() })

/** `holder` is the process whose life bounds the lock: the agent's, or this service's while `pid` is null. */
const LockFile = z.object({ execution_id: ExecutionId, pid: z.int().nullable(), holder: Holder })
type LockFile = z.infer<typeof LockFile>

/**
 * Takes the lock of a worktree. Returns null on success, else the holder. Takes over a lock whose process is gone;
 * the same execution may take it again, to set its process.
 */
export async function takeLock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null> {
  await using folder = await openFolder(path, '')
  // If the agent has ended already, this service holds the lock until the execution ends.
  const holder = (lock.pid === null ? null : await identify(lock.pid)) ?? (await identify(process.pid))
  if (holder === null) throw new Error('The process table does not list this very process.')
  const text = `${JSON.stringify({ execution_id: lock.execution_id, pid: lock.pid, holder } satisfies LockFile)}\n`
  // Beside the worktree, so that neither git nor the agent sees a partial or second file.
  const prepared = join(dirname(path), `.${basename(path)}-${randomUUID()}`)
  await writeFile(prepared, text, { mode: 0o600, flag: 'wx' })
  try {
    return await putInPlace(join(folder.at, lockName), prepared, lock.execution_id)
  } finally {
    await rm(prepared, { force: true })
  }
}

/** Each step is atomic, so that only one process succeeds: creating the file, or moving a stale one away. */
async function putInPlace(file: string, prepared: string, execution: ExecutionId): Promise<WorktreeLock | null> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await createFrom(prepared, file)) return null
    const present = await holderIn(file)
    if (present?.execution_id === execution) {
      await rename(prepared, file)
      return null
    }
    if (present !== null) return present
    if ((await orNull(lstat(file)))?.isDirectory()) await quarantine(file)
    else await takeAway(file, `${prepared}-stale`)
  }
  throw new WorkspaceError(
    'git_failed',
    `${lockName} could not be made in a worktree. See what keeps making it beside ${prepared}.`,
  )
}

/** Removes a stale lock. If another process took it since, restores it. */
async function takeAway(file: string, aside: string): Promise<void> {
  try {
    await rename(file, aside)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  const taken = await readLockFile(aside)
  if (taken !== null && (await isAlive(taken.holder))) await createFrom(aside, file)
  await rm(aside, { force: true })
}

/** Releases the lock if this execution holds it. */
export async function releaseLock(path: string, execution: ExecutionId): Promise<void> {
  await using folder = await folderAt(path)
  if (folder === null) return
  const file = join(folder.at, lockName)
  if ((await readLockFile(file))?.execution_id === execution) await rm(file, { force: true })
}

/** Returns the holder of a worktree's lock; null if there is none, or its process is gone. */
export async function holderOf(path: string): Promise<WorktreeLock | null> {
  await using folder = await folderAt(path)
  return folder === null ? null : await holderIn(join(folder.at, lockName))
}

async function holderIn(file: string): Promise<WorktreeLock | null> {
  const lock = await readLockFile(file)
  if (lock === null || !(await isAlive(lock.holder))) return null
  return { execution_id: lock.execution_id, pid: lock.pid }
}

/** Opens the worktree; null if there is no folder, or a link in its place, which can't have a lock. */
async function folderAt(path: string): Promise<Folder | null> {
  try {
    return await openFolder(path, '')
  } catch (error) {
    if (isMissing(error) || (error instanceof WorkspaceError && error.code === 'outside_worktree')) return null
    throw error
  }
}

/** Removes the lock files of ended processes from all worktrees below `root`; returns the worktrees' paths. */
export async function releaseStale(root: string): Promise<readonly string[]> {
  const released: string[] = []
  for (const path of await worktreeFolders(root)) {
    await using folder = await folderAt(path)
    if (folder === null) continue
    const file = join(folder.at, lockName)
    const entry = await orNull(lstat(file))
    if (entry === null || entry.isDirectory() || (await holderIn(file)) !== null) continue
    await rm(file, { force: true })
    released.push(path)
  }
  return released
}

/** Returns the folders `{root}/{project}/{task}`, sorted. */
export async function worktreeFolders(root: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const project of await foldersIn(root)) {
    if (basename(project) !== scratchFolder) found.push(...(await foldersIn(project)))
  }
  return found.sort()
}

async function foldersIn(path: string): Promise<readonly string[]> {
  const entries = (await orNull(readdir(path, { withFileTypes: true }))) ?? []
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
}

/**
 * Reads a lock file. An invalid one was truncated by a crash or is another file, so it counts as no lock, as does
 * anything but a plain file.
 */
async function readLockFile(file: string): Promise<LockFile | null> {
  try {
    await using handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const entry = await handle.stat()
    if (!entry.isFile() || entry.size > longest) return null
    const parsed = LockFile.safeParse(parseJson(await handle.readFile('utf8')))
    return parsed.success ? parsed.data : null
  } catch (error) {
    const isNone = isMissing(error) || hasCode(error, 'ELOOP') || hasCode(error, 'ENXIO') || hasCode(error, 'EISDIR')
    if (isNone) return null
    throw error
  }
}

/** Creates the file atomically with its content; returns false if it existed. */
async function createFrom(prepared: string, file: string): Promise<boolean> {
  try {
    await link(prepared, file)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    const hasNoLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].some((code) => hasCode(error, code))
    if (!hasNoLinks) throw error
    return await createCopy(prepared, file)
  }
}

/** For file systems without hard links, where a reader may briefly see an empty file and ignores it. */
async function createCopy(prepared: string, file: string): Promise<boolean> {
  try {
    await copyFile(prepared, file, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}
