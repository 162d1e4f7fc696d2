import { setTimeout as delay } from 'node:timers/promises'
import { filterByEnvironment, readProcessTable } from './process-table.ts'
import type { ProcessRow } from './process-table.ts'

/** Defines which processes belong to a tree. */
export interface SweepScope {
  /** The root of the tree; its pid is also the process group. */
  readonly leader: { readonly pid: number; readonly started: string }
  /** `NAME=value` that every process of the tree inherits; finds processes that left the group. */
  readonly processMarker: string
  /**
   * `performance.now()` just before the watched leader was started: since then no other process can have taken the
   * group's number. null: the leader was found later.
   */
  readonly watchedSince: number | null
}

export interface SweepTiming {
  /** Returns when (epoch ms) SIGKILL follows SIGTERM; read again each round. */
  readonly deadline: () => number
  /** Resolves when the leader has ended; starts a round at once. */
  readonly leaderExit?: Promise<unknown>
}

/** How long after SIGKILL to wait for processes that the kernel holds, before they are reported as survivors. */
const unkillableMs = 5_000

/** Sends SIGTERM to all, and SIGKILL after the deadline. Returns the pids that survived even that (normally none). */
export async function sweep(scope: SweepScope, timing: SweepTiming): Promise<readonly number[]> {
  const known = new Map<number, string>()
  const told = new Set<string>()
  let wakeUp = timing.leaderExit
  void timing.leaderExit?.then(() => (wakeUp = undefined))
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const members = await findMembers(scope, known)
    if (members.length === 0) return []
    const late = Date.now() - timing.deadline()
    if (late > unkillableMs) return members.map((row) => row.pid)
    signalMembers(scope, members, told, late >= 0)
    // Only polling notices the end of processes that are not children. The leader is a child, so its exit wakes this
    // loop.
    const wait = Math.max(1, Math.min(pause, late < 0 ? -late : pause))
    await (wakeUp ? Promise.race([delay(wait), wakeUp]) : delay(wait))
  }
}

function signalMembers(scope: SweepScope, members: readonly ProcessRow[], told: Set<string>, kill: boolean): void {
  const signal = kill ? 'SIGKILL' : 'SIGTERM'
  const due = members.filter((row) => kill || !told.has(identityOf(row)))
  // One call for the whole group, because a loop over pids could miss a fork.
  const group = due.filter((row) => row.pgid === scope.leader.pid)
  const whole = group.length > 0 && (kill || told.size === 0) && scope.leader.pid > 1 && scope.watchedSince !== null
  if (whole) sendSignal(-scope.leader.pid, signal)
  for (const row of due) {
    if (!(whole && row.pgid === scope.leader.pid)) sendSignal(row.pid, signal)
    told.add(identityOf(row))
  }
}

/**
 * Returns the group, the leader's descendants, processes with the marker, and members of an earlier round; never this
 * process, its ancestors, or a process older than the leader.
 */
async function findMembers(scope: SweepScope, known: Map<number, string>): Promise<readonly ProcessRow[]> {
  const { watchedSince } = scope
  const table = await readProcessTable(watchedSince === null ? undefined : { pid: scope.leader.pid, at: watchedSince })
  const spared = selfAndAncestors(table)
  const leaderRow = table.find((row) => row.pid === scope.leader.pid)
  const sameLeader = leaderRow?.started === scope.leader.started
  const startOrder = sameLeader ? leaderRow.order : parseOrder(scope.leader.started)
  if (startOrder === null) return []
  const candidates = table.filter((row) => !row.zombie && !spared.has(row.pid) && row.order >= startOrder)
  // After the leader's end its number stays taken as long as the group lives; a stranger with that pid means that the
  // group is gone.
  const groupIsOurs = sameLeader || (leaderRow === undefined && watchedSince !== null)
  const found = new Set(candidates.filter((row) => known.get(row.pid) === row.started))
  for (const row of candidates) if (groupIsOurs && row.pgid === scope.leader.pid) found.add(row)
  for (const row of await filterByEnvironment(candidates, scope.processMarker)) found.add(row)
  addDescendants(found, candidates)
  for (const row of found) known.set(row.pid, row.started)
  return [...found]
}

function addDescendants(found: Set<ProcessRow>, candidates: readonly ProcessRow[]): void {
  const pids = new Set([...found].map((row) => row.pid))
  for (let grown = true; grown;) {
    grown = false
    for (const row of candidates) {
      if (found.has(row) || !pids.has(row.ppid)) continue
      found.add(row)
      pids.add(row.pid)
      grown = true
    }
  }
}

function selfAndAncestors(table: readonly ProcessRow[]): ReadonlySet<number> {
  const parents = new Map(table.map((row) => [row.pid, row.ppid]))
  const spared = new Set([0, 1])
  for (let pid: number | undefined = process.pid; pid !== undefined && !spared.has(pid); pid = parents.get(pid)) {
    spared.add(pid)
  }
  return spared
}

/** Returns the order of a start time whose process is gone; null if it is of another boot or unreadable. */
function parseOrder(started: string): number | null {
  const date = started.endsWith('Z') ? started : `${started} UTC`
  const order = process.platform === 'linux' ? Number(started.split('@')[0]) : Date.parse(date)
  return Number.isNaN(order) ? null : order
}

const identityOf = (row: ProcessRow): string => `${row.pid}:${row.started}`

/**
 * Sends a signal. Ignores ESRCH, because the process has ended, and EPERM, because a process of another user is
 * reported as a survivor.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
