import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../src-shared/contract/errors.ts'

export interface Connections {
  /** Closes idle connections now, and every other one after its response. */
  drain(): void
  /**
   * Counts a connection for its owner. In the last tenth of all connections, throws `rate_limited` for an owner of
   * ten or more and closes the connection: that tenth is reserved for owners of few.
   */
  claim(socket: Socket, owner: string): void
}

/** Owners of fewer connections may use the last tenth. */
const fewConnections = 10

/**
 * Node treats a connection that never sent a request as active, which delays the close; browsers and clients open
 * such connections in advance. So requests are counted here.
 */
export function trackConnections(server: HttpServer, maxConnections: number): Connections {
  const requests = new Map<Socket, number>()
  const owners = new Map<Socket, string>()
  /** Connections opened when nine tenths were taken. */
  const late = new WeakSet<Socket>()
  const counts = new Map<string, number>()
  let draining = false
  const count = (owner: string, change: number) => {
    const left = (counts.get(owner) ?? 0) + change
    if (left > 0) counts.set(owner, left)
    else counts.delete(owner)
  }
  const disown = (socket: Socket) => {
    const owner = owners.get(socket)
    if (owner !== undefined) count(owner, -1)
    owners.delete(socket)
  }
  server.on('connection', (socket: Socket) => {
    requests.set(socket, 0)
    if (requests.size > maxConnections - Math.ceil(maxConnections / 10)) late.add(socket)
    socket.once('close', () => {
      requests.delete(socket)
      disown(socket)
    })
  })
  server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      if (requests.has(socket)) requests.set(socket, left)
      if (draining && left === 0) endSoon(socket)
    })
  })
  return {
    drain: () => {
      draining = true
      for (const [socket, count] of requests) if (count === 0) socket.destroy()
    },
    claim: (socket, owner) => {
      if (owners.get(socket) === owner || !requests.has(socket)) return
      if (late.has(socket) && (counts.get(owner) ?? 0) >= fewConnections) {
        // Its response is the last one.
        setImmediate(() => endSoon(socket))
        throw tooMany()
      }
      disown(socket)
      owners.set(socket, owner)
      count(owner, 1)
    },
  }
}

const tooMany = () =>
  new ApiError({
    code: 'rate_limited',
    message: 'You have many connections open, and nearly all are taken. Close some, then try again.',
    details: { retry_after: 10 },
  })

/** What comes by the link of a runner is no socket, and has no `destroySoon`. */
const endSoon = (socket: Partial<Socket> & Pick<Socket, 'end'>): void => {
  if (socket.destroySoon) socket.destroySoon()
  else socket.end()
}
