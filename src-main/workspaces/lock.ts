import { open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { identify, isAlive } from '../base/process.ts'
import { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { WorktreeLock } from '../engine/ports.ts'
import { isTaken, orNull } from './file-errors.ts'

const lockName = '.svc.lock'

const Holder = z.object({ pid: z.int().positive(), started: z.string() })

/** `holder` is the process that the lock lives with: the agent's, or this service's while `pid` is null. */
const LockFile = z.object({ execution_id: ExecutionId, pid: z.int().nullable(), holder: Holder })
type LockFile = z.infer<typeof LockFile>

/**
 * Takes the lock of a worktree. Answers null when it is taken now, else who has it. A lock whose process is gone
 * is taken over; the same execution may take it again, to name the process it has meanwhile.
 */
export async function takeLock(path: string, lock: WorktreeLock): Promise<WorktreeLock | null> {
  // An agent that has ended by now leaves the lock to this service, which gives it up when the execution is over.
  const holder = (lock.pid === null ? null : await identify(lock.pid)) ?? (await identify(process.pid))
  if (holder === null) throw new Error('The process table does not list this very process.')
  const text = `${JSON.stringify({ execution_id: lock.execution_id, pid: lock.pid, holder } satisfies LockFile)}\n`
  if (await createNew(join(path, lockName), text)) return null
  const present = await holderOf(path)
  if (present !== null && present.execution_id !== lock.execution_id) return present
  await replace(path, text)
  return null
}

/** Gives the lock up if this execution has it. */
export async function releaseLock(path: string, execution: ExecutionId): Promise<void> {
  const file = await readLockFile(path)
  if (file?.execution_id === execution) await rm(join(path, lockName), { force: true })
}

/** Who holds the lock of a worktree; null when nobody does, or only a process that is gone. */
export async function holderOf(path: string): Promise<WorktreeLock | null> {
  const file = await readLockFile(path)
  if (file === null || !(await isAlive(file.holder))) return null
  return { execution_id: file.execution_id, pid: file.pid }
}

/** Removes the lock files of processes that are gone from all worktrees below `root`; the worktrees' paths. */
export async function releaseStale(root: string): Promise<readonly string[]> {
  const released: string[] = []
  for (const path of await worktreeFolders(root)) {
    const file = join(path, lockName)
    if ((await orNull(readFile(file))) === null || (await holderOf(path)) !== null) continue
    await rm(file, { force: true })
    released.push(path)
  }
  return released
}

/** The folders `{root}/{project}/{task}`, sorted. */
export async function worktreeFolders(root: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const project of await foldersIn(root)) found.push(...(await foldersIn(project)))
  return found.sort()
}

async function foldersIn(path: string): Promise<readonly string[]> {
  const entries = (await orNull(readdir(path, { withFileTypes: true }))) ?? []
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
}

/** A file that makes no sense was cut off by a crash: it is nobody's. */
async function readLockFile(path: string): Promise<LockFile | null> {
  const text = await orNull(readFile(join(path, lockName), 'utf8'))
  if (text === null) return null
  const parsed = LockFile.safeParse(parseJson(text))
  return parsed.success ? parsed.data : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

async function createNew(file: string, text: string): Promise<boolean> {
  try {
    await using handle = await open(file, 'wx', 0o600)
    await handle.writeFile(text)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}

/** Prepared beside the worktree, so that neither git nor the agent ever sees a half-written or second file. */
async function replace(path: string, text: string): Promise<void> {
  const prepared = join(dirname(path), `.${basename(path)}-${randomUUID()}`)
  await writeFile(prepared, text, { mode: 0o600 })
  await rename(prepared, join(path, lockName))
}
