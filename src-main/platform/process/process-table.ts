import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** A row of the system's process list. */
export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  /** Process group. */
  readonly pgid: number
  /** Ended, but not yet collected by its parent; counts as gone. */
  readonly zombie: boolean
  /** Opaque start time, to tell a process from a later one with the same pid. */
  readonly started: string
  /** Start time as an increasing number; comparable within one listing. */
  readonly order: number
}

/** What Linux tells of a process besides. */
export interface LinuxProcess extends ProcessRow {
  /** The program's name, cut to 15 bytes. */
  readonly name: string
  readonly session: number
  /** 0: none. */
  readonly terminal: number
}

const run = promisify(execFile)
const psEnvironment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
const psColumns = 'pid=,ppid=,pgid=,stat=,lstart='

/** A process that this one started, at `at` (`performance.now()`) or a little later. */
export interface StartedChild {
  readonly pid: number
  readonly at: number
}

/**
 * Returns every process of this machine (or container) that the caller may see; with `since` may leave out older
 * ones. Not for Windows.
 */
export async function readProcessTable(since?: StartedChild): Promise<readonly ProcessRow[]> {
  if (process.platform !== 'linux') return await readPs(['-A'])
  return (since && readProcSince(since)) ?? readProc()
}

/** Returns the row of one process, or null. */
export async function readProcess(pid: number): Promise<ProcessRow | null> {
  if (process.platform === 'linux') return readProcStat(String(pid))
  const rows = await readPs(['-p', String(pid)])
  return rows[0] ?? null
}

/**
 * Returns which of these processes were started with `NAME=value` in their environment. Unreadable ones count as no.
 */
export async function filterByEnvironment(
  rows: readonly ProcessRow[],
  variable: string,
): Promise<readonly ProcessRow[]> {
  if (rows.length === 0) return []
  if (process.platform === 'linux') return rows.filter((row) => readEnvironment(row.pid).includes(`\0${variable}\0`))
  const environments = await readPsEnvironments()
  return rows.filter((row) => ` ${environments.get(row.pid) ?? ''} `.includes(` ${variable} `))
}

// Read synchronously, because a listing spread over several turns of the event loop shows a forking tree in two
// halves. 500 processes take about 5 ms.
/** Returns every process; Linux only. */
export function readProc(): readonly LinuxProcess[] {
  const rows: LinuxProcess[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const row = readProcStat(name)
    if (row) rows.push(row)
  }
  return rows
}

/** Within this time process numbers can't wrap around, however fast they are given out. */
const roundMs = 250
/** With this many new processes the full listing is as fast. */
const manySince = 100

/**
 * Returns only the processes since `pid`, ten times faster after a short script, because numbers are given out in
 * order and the system reports the last one. null if it does not, or if they may have wrapped around.
 */
function readProcSince({ pid, at }: StartedChild): readonly ProcessRow[] | null {
  // Not /proc/loadavg, which is made up in some containers.
  const last = (): number => Number(readIfThere('/proc/sys/kernel/ns_last_pid'))
  const newest = last()
  if (!(newest >= pid) || newest - pid > manySince || performance.now() - at > roundMs) return null
  const rows: ProcessRow[] = []
  // Processes that start during the loop count too: the one that started them may be gone already.
  for (let next = pid, end = newest; next <= end; end = next === end ? last() : end, next++) {
    const row = readProcStat(String(next))
    if (row) rows.push(row)
  }
  return rows
}

function readProcStat(pid: string): LinuxProcess | null {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (!stat) return null
  // The name in parentheses may contain spaces and parentheses, so fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid, session, terminal] = fields
  const ticks = fields[19]
  if (state === undefined || ticks === undefined) return null
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    zombie: state === 'Z' || state === 'X',
    started: `${ticks}@${bootId()}`,
    order: Number(ticks),
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
    session: Number(session),
    terminal: Number(terminal),
  }
}

let knownBootId: string | undefined
/** Returns the boot's ID. Ticks count from the boot, so the same pid and ticks can recur after the next one. */
function bootId(): string {
  knownBootId ??= readIfThere('/proc/sys/kernel/random/boot_id').trim()
  return knownBootId
}

/** Returns a process's environment as Linux has it, each variable between two NULs; nothing if it can't be read. */
export function readEnvironment(pid: number): string {
  return `\0${readIfThere(`/proc/${pid}/environ`)}\0`
}

const unreadable = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'])
/** Returns '' on errors: a process may end after the listing, or belong to another user. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (unreadable.has((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}

/** Lists processes by `ps`, for systems without /proc. */
export async function readPs(selection: readonly string[]): Promise<readonly ProcessRow[]> {
  const lines = await runPs([...selection, '-o', psColumns])
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    const [, pid, ppid, pgid, state, started] = match ?? []
    if (state === undefined || started === undefined) return []
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      zombie: state.startsWith('Z'),
      started,
      order: Date.parse(`${started} UTC`),
    }
  })
}

async function readPsEnvironments(): Promise<ReadonlyMap<number, string>> {
  const environments = new Map<number, string>()
  for (const line of await runPs(['-A', '-E', '-ww', '-o', 'pid=,command='])) {
    const match = /^\s*(\d+)\s(.*)$/.exec(line)
    if (match) environments.set(Number(match[1]), match[2] ?? '')
  }
  return environments
}

async function runPs(args: readonly string[]): Promise<readonly string[]> {
  try {
    const { stdout } = await run('ps', [...args], { env: psEnvironment, maxBuffer: 64 * 1024 * 1024 })
    return stdout.split('\n').filter((line) => line.trim() !== '')
  } catch (error) {
    // `ps -p` reports "no such process" by exit code 1 and no output.
    if ((error as { code?: unknown }).code === 1) return []
    throw error
  }
}
