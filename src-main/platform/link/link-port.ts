import { createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { OutgoingLink } from './link.ts'

/** A port of this machine whose connections go over a link. */
export interface LinkPort {
  readonly port: number
  close(): Promise<void>
}

/** Opens the port. A connection is closed when `reach` resolves with null. */
export async function openLinkPort(reach: () => Promise<OutgoingLink | null>): Promise<LinkPort> {
  const carry = async (socket: Socket): Promise<void> => {
    const link = await reach()
    const connection = socket.destroyed ? null : (link?.connect() ?? null)
    if (connection === null) return void socket.destroy()
    // Each way ends on its own, and both are destroyed when one breaks.
    pipeline(socket, connection, () => undefined)
    pipeline(connection, socket, () => undefined)
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    void carry(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
