import { readlinkSync } from 'node:fs'
import { findRelay, liveTrees, type LiveTree } from './live-trees.ts'
import { openSockets, runsAs } from './open-sockets.ts'
import {
  canTellPeers,
  findPeerSocket,
  isFromThisMachine,
  readSocketRows,
  type Accepted,
  type PeerSocket,
} from './peer-socket.ts'
import { readProc, type LinuxProcess } from './process-table.ts'
import { isRelayProgram } from './relay-programs.ts'
import { createTimeSlices } from './time-slices.ts'
import { findMembers } from './tree-members.ts'

/**
 * Returns the trees of which one is at the other end of a connection within this machine; none if that can't be told
 * because its program left or hides the connection. null: it is no tree's, or this system can't tell. Takes some
 * milliseconds while a tree runs, else nothing.
 */
export async function findPeerTrees(accepted: Accepted): Promise<readonly LiveTree[] | null> {
  const relayed = findRelay(accepted.remoteAddress, accepted.remotePort)
  if (relayed !== null) return [...liveTrees].filter(({ processMarker }) => processMarker === relayed)
  if (liveTrees.size === 0 || !canTellPeers() || !isFromThisMachine(accepted)) return null
  // Before the table is read: what has a connection afterwards was there by then, and what left has none.
  const rows = readProc()
  const found = openedByTrees(rows)
  const peer = await findPeerSocket(accepted)
  if (peer === null) return null
  if (peer === 'gone') return []
  const opener = found.opened.get(peer.inode)
  if (opener !== undefined) return [opener]
  const others = rows.filter(({ pid }) => !found.members.has(pid))
  const holder = await findHolder(peer, others)
  if (holder === null) return unseen(peer, found, others)
  if (!isRelayProgram(holder.name)) return null
  const behind = await treeBehind(holder, found.opened)
  return behind === null ? null : [behind]
}

interface TreeSockets {
  readonly members: ReadonlyMap<number, LiveTree>
  /** By the socket's inode. */
  readonly opened: ReadonlyMap<string, LiveTree>
}

function openedByTrees(rows: readonly LinuxProcess[]): TreeSockets {
  const members = findMembers(rows, liveTrees)
  const opened = new Map<string, LiveTree>()
  for (const [pid, tree] of members) for (const inode of openSockets(pid) ?? []) opened.set(inode, tree)
  return { members, opened }
}

/** The process that was found last, which is often a browser that opens several connections. */
let lastHolder = 0

/** Returns the process that has a socket open, if one can be seen that does. */
async function findHolder({ inode }: PeerSocket, rows: readonly LinuxProcess[]): Promise<LinuxProcess | null> {
  // The youngest next: most callers are commands.
  const order = ({ pid, order }: LinuxProcess) => (pid === lastHolder ? Infinity : order)
  const letOthers = createTimeSlices()
  for (const row of rows.toSorted((a, b) => order(b) - order(a))) {
    if (openSockets(row.pid)?.includes(inode) === true) {
      lastHolder = row.pid
      return row
    }
    await letOthers()
  }
  return null
}

/** Decides on a connection of which no process shows that it has it. */
function unseen(peer: PeerSocket, { members }: TreeSockets, others: readonly LinuxProcess[]): LiveTree[] | null {
  const isHidden = (pid: number) => openSockets(pid) === null && runsAs(pid, peer.uid)
  const hidden = [...members].filter(([pid]) => isHidden(pid)).map(([, tree]) => tree)
  if (hidden.length > 0) return hidden
  const own = process.getuid?.()
  if (own !== 0 && peer.uid !== own) return null
  // The system hides what some programs have open, such as sshd.
  if (others.some(({ pid }) => isHidden(pid))) return null
  // A program can have a connection in a message to itself, where no one sees it.
  return seesAllProcesses() ? [] : null
}

/** Returns whether this process is in the first namespace of processes, as Linux numbers it, and in no container. */
function seesAllProcesses(): boolean {
  try {
    return readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]'
  } catch {
    return false
  }
}

/** Returns the tree of which a program has connected to this relay, such as an ssh tunnel. */
async function treeBehind({ pid }: LinuxProcess, opened: ReadonlyMap<string, LiveTree>): Promise<LiveTree | null> {
  const sockets = openSockets(pid) ?? []
  const table = await readSocketRows()
  const inodes = new Map(table.map(({ ends, inode }) => [ends.join(' '), inode]))
  for (const { inode, ends } of table) {
    if (!sockets.includes(inode)) continue
    const tree = opened.get(inodes.get(ends.toReversed().join(' ')) ?? '')
    if (tree !== undefined) return tree
  }
  return null
}
