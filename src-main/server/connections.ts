import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'

export interface Connections {
  /** Ends every connection without a request under way now, and each other one after its answer. */
  drain(): void
}

/**
 * Node takes a connection that has never sent a request for an active one and lets it hold up the
 * close; browsers and clients open such connections in advance. So we count requests ourselves.
 */
export function trackConnections(server: HttpServer): Connections {
  const requests = new Map<Socket, number>()
  let draining = false
  server.on('connection', (socket: Socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      if (requests.has(socket)) requests.set(socket, left)
      if (draining && left === 0) socket.destroySoon()
    })
  })
  return {
    drain: () => {
      draining = true
      for (const [socket, count] of requests) if (count === 0) socket.destroy()
    },
  }
}
