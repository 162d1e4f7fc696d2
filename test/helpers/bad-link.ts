import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A connection that passes through here, and can be made worse. */
export interface BadLink extends AsyncDisposable {
  /** Begins to pass connections on to a port of this machine; returns its own. */
  to(port: number): Promise<number>
  /** Ends all connections at once. */
  cut(): void
  /** Ends all connections, and takes none. */
  close(): void
  /** Takes connections again. */
  open(): void
  /** Passes nothing on for so long; nothing is lost. */
  hold(ms: number): void
}

export function createBadLink(): BadLink {
  const pairs = new Set<readonly [Socket, Socket]>()
  let target = 0
  let heldUntil = 0
  let isOpen = true
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => {
      const wait = heldUntil - Date.now()
      if (wait <= 0) return void to.write(chunk)
      from.pause()
      setTimeout(() => {
        to.write(chunk)
        from.resume()
      }, wait)
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    if (!isOpen) return void socket.resetAndDestroy()
    const there = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    const pair = [socket, there] as const
    pairs.add(pair)
    there.once('close', () => {
      pairs.delete(pair)
      socket.destroy()
    })
    socket.once('close', () => there.destroy())
    pass(socket, there)
    pass(there, socket)
  })
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    to: async (port) => {
      target = port
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    },
    cut,
    close: () => {
      isOpen = false
      cut()
    },
    open: () => {
      isOpen = true
    },
    hold: (ms) => {
      heldUntil = Date.now() + ms
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      cut()
    },
  }
}
