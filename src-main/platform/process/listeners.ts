import { liveTrees, type LiveTree } from './live-trees.ts'
import { openSockets } from './open-sockets.ts'
import { canTellPeers, inTable, readSocketRows, type SocketRow } from './peer-socket.ts'
import { readProc } from './process-table.ts'
import { findMembers } from './tree-members.ts'

/** A port on which a program of a tree listens. */
export interface Listener {
  readonly tree: LiveTree
  readonly port: number
  /** The address of this machine at which it answers. */
  readonly host: string
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
 * as only Linux does. It looks at processes when another socket listens, and otherwise now and then.
 */
export function createListenerSearch(): () => Promise<readonly Listener[]> {
  let known: { readonly of: string; readonly at: number; readonly found: readonly Listener[] } | null = null
  return async () => {
    if (liveTrees.size === 0 || !canTellPeers()) return []
    const rows = (await readSocketRows()).filter(({ listens, ends: [own] }) => listens && hosts.has(addressOf(own)))
    const of = rows.map(({ inode }) => inode).join(' ')
    if (known?.of !== of || performance.now() - known.at > knownMs)
      known = { of, at: performance.now(), found: listenersAmong(rows) }
    const { found } = known
    return found.filter(({ tree }) => liveTrees.has(tree))
  }
}

const knownMs = 10_000

function listenersAmong(rows: readonly SocketRow[]): readonly Listener[] {
  if (rows.length === 0) return []
  const byInode = new Map(rows.map((row) => [row.inode, row]))
  return [...findMembers(readProc(), liveTrees)].flatMap(([pid, tree]) =>
    (openSockets(pid) ?? []).flatMap((inode) => {
      const [end] = byInode.get(inode)?.ends ?? []
      const host = end === undefined ? undefined : hosts.get(addressOf(end))
      if (end === undefined || host === undefined) return []
      return { tree, host, port: Number.parseInt(end.slice(end.lastIndexOf(':') + 1), 16) }
    }),
  )
}

function addressOf(end: string): string {
  return end.slice(0, end.lastIndexOf(':'))
}
