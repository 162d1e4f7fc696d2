import { createServer, type Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'

/** A port of this machine, on its loopback address, whose connections go over a link. */
export interface LinkPort {
  readonly port: number
  /** Ends its connections too. */
  close(): Promise<void>
}

/** Opens a port, or any free one. A connection is closed when `reach` resolves with null. */
export async function openLinkPort(reach: () => Promise<Duplex | null>, wanted = 0): Promise<LinkPort> {
  const open = new Set<Socket>()
  const carry = async (socket: Socket): Promise<void> => {
    const connection = await reach()
    if (connection === null || socket.destroyed) {
      connection?.destroy()
      socket.destroy()
    } else joinStreams(socket, connection)
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket)).on('error', () => undefined)
    void carry(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(wanted, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** Leads each of two connections into the other. Each way ends on its own, and both are destroyed when one breaks. */
export function joinStreams(one: Duplex, other: Duplex): void {
  pipeline(one, other, () => undefined)
  pipeline(other, one, () => undefined)
}
