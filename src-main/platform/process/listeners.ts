import { readlinkSync } from 'node:fs'
import { liveTrees, type LiveTree } from './live-trees.ts'
import { openSockets } from './open-sockets.ts'
import { canTellPeers, inTable, readSocketRows, type SocketRow } from './peer-socket.ts'
import { readProc } from './process-table.ts'
import { findMembers } from './tree-members.ts'

/** A port on which a program of a tree listens. */
export interface Listener {
  readonly tree: LiveTree
  readonly port: number
  /** The loopback address at which it answers. */
  readonly host: '127.0.0.1' | '::1'
}

/** By the address at which a program listens, as the kernel writes it, that at which it answers this machine. */
const hosts = new Map(
  (
    [
      ['127.0.0.1', '127.0.0.1'],
      ['0.0.0.0', '127.0.0.1'],
      ['::1', '::1'],
      ['::', '::1'],
    ] as const
  ).flatMap(([address, host]) => inTable(address, 0).map(({ end }) => [addressOf(end), host] as const)),
)

/**
 * Returns a function that finds the ports on which trees of this process listen; none where the system can't tell,
 * as only Linux does. It looks at processes when another socket of this network listens, and otherwise now and then.
 */
export function createListenerSearch(): () => Promise<readonly Listener[]> {
  let known: { readonly of: string; readonly at: number; readonly found: readonly Listener[] } | null = null
  return async () => {
    if (liveTrees.size === 0 || !canTellPeers()) return []
    const rows = listening(await readSocketRows())
    const of = rows.map(({ inode }) => inode).join(' ')
    if (known?.of !== of || performance.now() - known.at > knownMs)
      known = { of, at: performance.now(), found: listenersAmong(membersNow(), rows) }
    const { found } = known
    return found.filter(({ tree }) => liveTrees.has(tree))
  }
}

const knownMs = 10_000

/** A port of a tree that may be in a network of its own, such as a container's. */
export interface PlacedListener extends Listener {
  readonly isApart: boolean
}

/** Returns the ports on which a tree of this process listens, in any network. */
export async function findListeners(processMarker: string): Promise<readonly PlacedListener[]> {
  if (!canTellPeers()) return []
  const byNetwork = new Map<string, Map<number, LiveTree>>()
  for (const [pid, tree] of membersNow()) {
    const network = tree.processMarker === processMarker ? networkOf(pid) : null
    if (network !== null) byNetwork.set(network, (byNetwork.get(network) ?? new Map<number, LiveTree>()).set(pid, tree))
  }
  const own = networkOf('self')
  const found = await Promise.all(
    [...byNetwork].map(async ([network, members]) => {
      const [pid] = members.keys()
      const isApart = network !== own
      return listenersAmong(members, listening(await readSocketRows(pid))).map((one) => ({ ...one, isApart }))
    }),
  )
  return found.flat()
}

const membersNow = (): ReadonlyMap<number, LiveTree> => findMembers(readProc(), liveTrees)

const listening = (rows: readonly SocketRow[]): readonly SocketRow[] =>
  rows.filter(({ listens, ends: [own] }) => listens && hosts.has(addressOf(own)))

function listenersAmong(members: ReadonlyMap<number, LiveTree>, rows: readonly SocketRow[]): readonly Listener[] {
  if (rows.length === 0) return []
  const byInode = new Map(rows.map((row) => [row.inode, row]))
  return [...members].flatMap(([pid, tree]) =>
    (openSockets(pid) ?? []).flatMap((inode) => {
      const [end] = byInode.get(inode)?.ends ?? []
      const host = end === undefined ? undefined : hosts.get(addressOf(end))
      if (end === undefined || host === undefined) return []
      return { tree, host, port: Number.parseInt(end.slice(end.lastIndexOf(':') + 1), 16) }
    }),
  )
}

function networkOf(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return null
  }
}

function addressOf(end: string): string {
  return end.slice(0, end.lastIndexOf(':'))
}
