import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** One process as the system lists it. */
export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  /** Process group. */
  readonly pgid: number
  /** Ended, and only waits for its parent to notice: counts as gone. */
  readonly zombie: boolean
  /** Start time, to tell a process from a later one with the same pid. Opaque. */
  readonly started: string
  /** Start time as a number that grows; comparable within one listing. */
  readonly order: number
}

const run = promisify(execFile)
const psEnvironment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
const psColumns = 'pid=,ppid=,pgid=,stat=,lstart='

/** A process that this one started, at this `performance.now()` or a little later. */
export interface StartedChild {
  readonly pid: number
  readonly at: number
}

/**
 * Every process of this machine (of this container) that the caller may see; with `since`, it may leave out those that
 * are older than that one. Not for Windows.
 */
export async function readProcessTable(since?: StartedChild): Promise<readonly ProcessRow[]> {
  if (process.platform !== 'linux') return await readPs(['-A'])
  return (since && readProcSince(since)) ?? readProc()
}

/** The row of one process, null when there is none. */
export async function readProcess(pid: number): Promise<ProcessRow | null> {
  if (process.platform === 'linux') return readProcStat(String(pid))
  const rows = await readPs(['-p', String(pid)])
  return rows[0] ?? null
}

/** Which of these processes were started with `NAME=value` in their environment. Those it may not read count as no. */
export async function filterByEnvironment(
  rows: readonly ProcessRow[],
  variable: string,
): Promise<readonly ProcessRow[]> {
  if (rows.length === 0) return []
  if (process.platform === 'linux') return rows.filter((row) => readEnvironment(row.pid).includes(`\0${variable}\0`))
  const environments = await readPsEnvironments()
  return rows.filter((row) => ` ${environments.get(row.pid) ?? ''} `.includes(` ${variable} `))
}

// Read in one go, not file by file in the background: a listing that is torn over several turns of
// the event loop shows a forking tree as two halves. 500 processes take about 5 ms.
function readProc(): readonly ProcessRow[] {
  const rows: ProcessRow[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const row = readProcStat(name)
    if (row) rows.push(row)
  }
  return rows
}

/** In this time the numbers of processes do not go round, however fast they are given out. */
const roundMs = 250
/** Where so many have come since, the whole listing is no slower. */
const manySince = 100

/**
 * A short script's end is looked after in a tenth of the time this way: numbers are given out in turn, and the system says
 * which was the last. null when it does not, or when they may have gone round.
 */
function readProcSince({ pid, at }: StartedChild): readonly ProcessRow[] | null {
  // Not of /proc/loadavg: in some containers that one is made up.
  const last = (): number => Number(readIfThere('/proc/sys/kernel/ns_last_pid'))
  const newest = last()
  if (!(newest >= pid) || newest - pid > manySince || performance.now() - at > roundMs) return null
  const rows: ProcessRow[] = []
  // What has come while we looked counts too: the one that started it may have gone meanwhile.
  for (let next = pid, end = newest; next <= end; end = next === end ? last() : end, next++) {
    const row = readProcStat(String(next))
    if (row) rows.push(row)
  }
  return rows
}

function readProcStat(pid: string): ProcessRow | null {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (!stat) return null
  // The name in parentheses may hold spaces and parentheses itself, so count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid] = fields
  const ticks = fields[19]
  if (state === undefined || ticks === undefined) return null
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    zombie: state === 'Z' || state === 'X',
    started: `${ticks}@${bootId()}`,
    order: Number(ticks),
  }
}

let knownBootId: string | undefined
/** Ticks count from the boot, so the same pid and ticks can come again after the next one. */
function bootId(): string {
  knownBootId ??= readIfThere('/proc/sys/kernel/random/boot_id').trim()
  return knownBootId
}

function readEnvironment(pid: number): string {
  return `\0${readIfThere(`/proc/${pid}/environ`)}\0`
}

const unreadable = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'])
/** A process may end between the listing and the look, and others' are not ours to read. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (unreadable.has((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}

/** The listing by `ps`, for systems without /proc. */
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
    // `ps -p` says "no such process" by exit code 1 and no output.
    if ((error as { code?: unknown }).code === 1) return []
    throw error
  }
}
