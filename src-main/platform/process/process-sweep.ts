import { setTimeout as delay } from 'node:timers/promises'
import { filterByEnvironment, readProcessTable } from './process-table.ts'
import type { ProcessRow } from './process-table.ts'

/** Which processes belong together. */
export interface SweepScope {
  /** The first process of the tree; its pid is the group's number. */
  readonly leader: { readonly pid: number; readonly started: string }
  /** `NAME=value` that every process of the tree inherits, to find those that left the group. */
  readonly processMarker: string
  /**
   * The `performance.now()` since when its leader is watched, just before it started; then nobody else can have taken
   * the group's number. null: it was found later.
   */
  readonly watchedSince: number | null
}

export interface SweepTiming {
  /** When (epoch ms) to go from SIGTERM to SIGKILL; asked again each round. */
  readonly deadline: () => number
  /** Settles when the leader has ended; a round follows at once. */
  readonly leaderExit?: Promise<unknown>
}

/** How long after SIGKILL to wait for processes that the kernel holds back, before they are reported as survivors. */
const unkillableMs = 5_000

/** SIGTERM to all, SIGKILL after the deadline; the pids that withstood even that (normally none). */
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
    // Only polling can tell when processes that are not our children have gone. The leader is one, and wakes us.
    const wait = Math.max(1, Math.min(pause, late < 0 ? -late : pause))
    await (wakeUp ? Promise.race([delay(wait), wakeUp]) : delay(wait))
  }
}

function signalMembers(scope: SweepScope, members: readonly ProcessRow[], told: Set<string>, kill: boolean): void {
  const signal = kill ? 'SIGKILL' : 'SIGTERM'
  const due = members.filter((row) => kill || !told.has(identityOf(row)))
  // One call for the whole group, so that nothing can fork its way past a loop over pids.
  const group = due.filter((row) => row.pgid === scope.leader.pid)
  const whole = group.length > 0 && (kill || told.size === 0) && scope.leader.pid > 1 && scope.watchedSince !== null
  if (whole) sendSignal(-scope.leader.pid, signal)
  for (const row of due) {
    if (!(whole && row.pgid === scope.leader.pid)) sendSignal(row.pid, signal)
    told.add(identityOf(row))
  }
}

/**
 * The group, what descends from it, what carries the mark, and what was a member in an earlier
 * round; never this process or its ancestors, and nothing that started before the leader.
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
  // With the leader gone, its number stays taken as long as the group lives; a stranger under it means the group is gone.
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

/** The order that belongs to a start time when its process is gone; null when it is from another boot or unreadable. */
function parseOrder(started: string): number | null {
  const date = started.endsWith('Z') ? started : `${started} UTC`
  const order = process.platform === 'linux' ? Number(started.split('@')[0]) : Date.parse(date)
  return Number.isNaN(order) ? null : order
}

const identityOf = (row: ProcessRow): string => `${row.pid}:${row.started}`

/** ESRCH: it ended by itself meanwhile. EPERM: it changed its user; it will be reported as a survivor. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
