import { openSockets, runsAs } from './open-sockets.ts'
import { findPeerSocket, canTellPeers, type Accepted, type PeerSocket } from './peer-socket.ts'
import { readEnvironment, readProc, type LinuxProcess } from './process-table.ts'
import { isRelayProgram } from './relay-programs.ts'
import { treeVariable } from './tree-variable.ts'

/**
 * Returns whether the peer of a local connection is a process of the same user as this one, and neither a program
 * that this one started, nor its descendant, nor one that passes on others' connections, such as `ssh`. null: unknown,
 * because only Linux can tell.
 */
export async function isPeerSameUser(accepted: Accepted): Promise<boolean | null> {
  if (!canTellPeers()) return null
  const peer = await findPeerSocket(accepted)
  if (peer === null || peer === 'gone' || peer.uid !== process.getuid?.()) return false
  const rows = readProc()
  const holders = holdersOf(peer, rows)
  return holders.length > 0 && !holders.some((row) => isRelayProgram(row.name) || isOfOurRuns(row, rows))
}

/** Returns whether the peer of a local connection passes on others' connections; false where that can't be told. */
export async function isPeerRelay(accepted: Accepted): Promise<boolean> {
  const peer = await findPeerSocket(accepted)
  if (peer === null || peer === 'gone') return false
  const rows = readProc()
  const holders = holdersOf(peer, rows)
  if (holders.length > 0) return holders.some(({ name }) => isRelayProgram(name))
  // The system hides what sshd has open, even from its user.
  return rows.some(({ pid, name }) => isRelayProgram(name) && openSockets(pid) === null && runsAs(pid, peer.uid))
}

/** Returns the processes that have a socket open. One that can't be inspected is left out, so it is never let in. */
const holdersOf = ({ inode }: PeerSocket, rows: readonly LinuxProcess[]) =>
  rows.filter(({ pid }) => openSockets(pid)?.includes(inode))

/**
 * Returns whether a process or one of its ancestors was started by this one or carries the marker of one of its runs.
 */
function isOfOurRuns(holder: LinuxProcess, rows: readonly LinuxProcess[]): boolean {
  const ours = process.env[treeVariable]
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  let next: LinuxProcess | undefined = holder
  for (let depth = 0; next !== undefined && next.pid > 1 && depth < 1_000; next = byPid.get(next.ppid), depth++) {
    if (next.pid === process.pid) return next !== holder
    const mark = markOf(next.pid)
    // A service that a run started carries that run's marker itself, like all processes around it.
    if (mark !== undefined && mark !== ours) return true
  }
  return false
}

const markOf = (pid: number): string | undefined =>
  new RegExp(`\\0${treeVariable}=([^\\0]*)\\0`).exec(readEnvironment(pid))?.[1]
