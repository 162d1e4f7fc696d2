import { constants } from 'node:fs'
import { copyFile, link, lstat, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { identify, isAlive } from '../../platform/process/process.ts'
import { ExecutionId } from '../../../src-shared/contract/ids.ts'
import { WorkspaceError, type WorktreeLock } from '../../ports/workspaces.ts'
import { hasCode, isMissing, isTaken, orNull } from '../files/file-errors.ts'
import { openFolder, type Folder } from '../files/folder.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { quarantine } from '../files/quarantine.ts'

const lockName = '.svc.lock'
/** Throw-away worktrees lie in this folder of the workspace root; they are no task's. */
export const scratchFolder = '.scratch'
/** No lock is longer; who wrote more meant something else. */
const longest = 4_096
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

const Holder = z.object({ pid: z.int().positive(), started: z.string() })

/** `holder` is the process that the lock lives with: the agent's, or this service's while `pid` is null. */
const LockFile = z.object({ execution_id: ExecutionId, pid: z.int().nullable(), holder: Holder })
type LockFile = z.infer<typeof LockFile>

/**
 * Takes the lock of a worktree. Answers null when it is taken now, else who has it. A lock whose process is gone
 * is taken over; the same execution may take it again, to name the process it has meanwhile.
 */
export async function takeLock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null> {
  await using folder = await openFolder(path, '')
  // An agent that has ended by now leaves the lock to this service, which gives it up when the execution is over.
  const holder = (lock.pid === null ? null : await identify(lock.pid)) ?? (await identify(process.pid))
  if (holder === null) throw new Error('The process table does not list this very process.')
  const text = `${JSON.stringify({ execution_id: lock.execution_id, pid: lock.pid, holder } satisfies LockFile)}\n`
  // Beside the worktree, so that neither git nor the agent ever sees a half-written or second file.
  const prepared = join(dirname(path), `.${basename(path)}-${randomUUID()}`)
  await writeFile(prepared, text, { mode: 0o600, flag: 'wx' })
  try {
    return await putInPlace(join(folder.at, lockName), prepared, lock.execution_id)
  } finally {
    await rm(prepared, { force: true })
  }
}

/** Every step is one that only one of many can do: to create the file, or to take a stale one away. */
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

/** Removes a lock that was found to be nobody's. Should somebody have taken it in between, they get it back. */
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

/** Gives the lock up if this execution has it. */
export async function releaseLock(path: string, execution: ExecutionId): Promise<void> {
  await using folder = await folderAt(path)
  if (folder === null) return
  const file = join(folder.at, lockName)
  if ((await readLockFile(file))?.execution_id === execution) await rm(file, { force: true })
}

/** Who holds the lock of a worktree; null when nobody does, or only a process that is gone. */
export async function holderOf(path: string): Promise<WorktreeLock | null> {
  await using folder = await folderAt(path)
  return folder === null ? null : await holderIn(join(folder.at, lockName))
}

async function holderIn(file: string): Promise<WorktreeLock | null> {
  const lock = await readLockFile(file)
  if (lock === null || !(await isAlive(lock.holder))) return null
  return { execution_id: lock.execution_id, pid: lock.pid }
}

/** null when there is no folder, or a link in its place: nobody's lock is there. */
async function folderAt(path: string): Promise<Folder | null> {
  try {
    return await openFolder(path, '')
  } catch (error) {
    if (isMissing(error) || (error instanceof WorkspaceError && error.code === 'outside_worktree')) return null
    throw error
  }
}

/** Removes the lock files of processes that are gone from all worktrees below `root`; the worktrees' paths. */
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

/** The folders `{root}/{project}/{task}`, sorted. */
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
 * What a lock file says. One that makes no sense was cut off by a crash or is somebody else's file: it is nobody's
 * lock, and so is what is no plain file.
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

/** The file is there at once and whole, or it was there before: then false. */
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

/** For file systems without hard links; there a reader may see it empty for a moment, and takes it for nobody's. */
async function createCopy(prepared: string, file: string): Promise<boolean> {
  try {
    await copyFile(prepared, file, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}
