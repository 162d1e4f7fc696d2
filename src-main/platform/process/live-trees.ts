import type { Socket } from 'node:net'

/** A tree of processes that this process started and that has not ended. */
export interface LiveTree {
  /** The root's pid, which is also its process group and session. */
  readonly pid: number
  /** The value of `treeVariable` in its environment. */
  readonly processMarker: string
  /** The environment that the root was given. */
  readonly env: Readonly<Record<string, string>>
}

const live = new Set<LiveTree>()
/** The markers of trees whose connections this process passes on, by the address and port that it does so from. */
const relays = new Map<string, { readonly processMarker: string }>()

export const liveTrees: ReadonlySet<LiveTree> = live

/** Registers a tree until the returned function is called. */
export function addLiveTree(tree: LiveTree): () => void {
  live.add(tree)
  return () => live.delete(tree)
}

/** Tells that this process passes on a connection of a tree with this marker through a connected socket. */
export function noteRelay(socket: Socket, processMarker: string): void {
  const end = endOf(socket.localAddress, socket.localPort)
  const relay = { processMarker }
  relays.set(end, relay)
  socket.once('close', () => {
    // The port may have been given out again.
    if (relays.get(end) === relay) relays.delete(end)
  })
}

/** Returns the marker of the tree whose connection comes from this address and port of this process, if one does. */
export function findRelay(address: string | undefined, port: number | undefined): string | null {
  return relays.get(endOf(address, port))?.processMarker ?? null
}

const endOf = (address: string | undefined, port: number | undefined) =>
  `${(address ?? '').replace(/^::ffff:(?=\d+\.)/i, '')} ${port}`
