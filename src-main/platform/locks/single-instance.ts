import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** Another process holds this data folder. */
export class DataDirLockedError extends Error {
  override readonly name = 'DataDirLockedError'
  readonly code = 'data_dir_held'
  readonly dataDir: string
  readonly pid: number

  constructor(dataDir: string, holder: Holder, lockFile: string) {
    const where = holder.host === hostname() ? '' : ` on ${holder.host} (if that is not so, delete ${lockFile})`
    super(`${dataDir} is in use by process ${holder.pid}${where}, running since ${holder.since}.`)
    this.dataDir = dataDir
    this.pid = holder.pid
  }
}

interface Holder {
  readonly pid: number
  readonly host: string
  /** When that process started, as shown to people. */
  readonly since: string
  /** The process's start time as the system counts it, because the pid may be reused. */
  readonly started: string | null
}

/**
 * Locks `dataDir` for this process until it is disposed or the process ends. Throws `DataDirLockedError` while
 * another holder lives; takes over from a killed one, also when its pid was reused.
 */
export function lockDataDir(dataDir: string): Disposable {
  const lockFile = join(dataDir, 'copse.lock')
  const ownHolder: Holder = {
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    started: startOf(process.pid),
  }
  const text = JSON.stringify(ownHolder)
  const draft = `${lockFile}.${randomUUID()}`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    take(dataDir, lockFile, draft)
  } finally {
    rmSync(draft, { force: true })
  }
  const release = () => {
    process.off('exit', release)
    if (readIfThere(lockFile) === text) rmSync(lockFile, { force: true })
  }
  process.once('exit', release)
  return { [Symbol.dispose]: release }
}

function take(dataDir: string, lockFile: string, draft: string): void {
  for (;;) {
    try {
      // A hard link appears complete and only if the name is free, so no process reads a partial lock and only one
      // wins.
      linkSync(draft, lockFile)
      return
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    const text = readIfThere(lockFile)
    if (text === null) continue
    const holder = parseHolder(text)
    if (holder !== null && isRunning(holder)) throw new DataDirLockedError(dataDir, holder, lockFile)
    discard(lockFile, text)
  }
}

/** Removes exactly the stale lock, because a new holder may have come after it was read. */
function discard(lockFile: string, stale: string): void {
  const aside = `${lockFile}.${randomUUID()}`
  try {
    renameSync(lockFile, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  if (readIfThere(aside) !== stale) linkSync(aside, lockFile)
  rmSync(aside, { force: true })
}

function isRunning(holder: Holder): boolean {
  if (holder.host !== hostname()) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (!hasCode(error, 'EPERM')) return false
  }
  const started = startOf(holder.pid)
  return holder.started === null || started === holder.started
}

/** Returns a text that no two processes with the same pid share; null if it is unknown (or for a zombie). */
function startOf(pid: number): string | null {
  if (process.platform === 'win32') return null
  if (process.platform === 'linux') {
    const stat = readIfThere(`/proc/${pid}/stat`)
    // The command's name is in brackets and may contain spaces and brackets.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (!fields || fields[0] === 'Z' || fields[0] === 'X') return null
    return `${readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? ''} ${fields[19] ?? ''}`
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch (error) {
    if (error instanceof Error && 'status' in error) return null
    throw error
  }
}

function parseHolder(text: string): Holder | null {
  // A lock that a power loss truncated has no living holder.
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return null
  const { pid, host, since, started } = value as Partial<Record<keyof Holder, unknown>>
  if (typeof pid !== 'number' || typeof host !== 'string' || typeof since !== 'string') return null
  return { pid, host, since, started: typeof started === 'string' ? started : null }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return null
    throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
