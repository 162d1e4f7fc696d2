import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * Reports when processes run and when they are gone: a shell and all its descendants hold one connection open, which
 * the system closes with the last of them.
 */
export interface ProcessBeacon extends AsyncDisposable {
  /** A command line that runs `script` in a shell that holds the connection `name`, as do its descendants. */
  hold(name: string, script: string): string
  /** Resolves once the `nth` shell of this name (counted from 1) runs. */
  alive(name: string, nth?: number): Promise<void>
  /** Resolves once nothing of the `nth` shell of this name is left. */
  gone(name: string, nth?: number): Promise<void>
  /** Lets the `nth` shell of this name continue where it waits with `wait`. */
  release(name: string, nth?: number): Promise<void>
}

/** In a script: waits until the test releases it. */
export const wait = 'read -r _ <&9'

interface Held {
  readonly socket: Socket
  readonly closed: Promise<unknown>
}

export async function createProcessBeacon(): Promise<ProcessBeacon> {
  const held = new Map<string, Held[]>()
  const sockets = new Set<Socket>()
  let waiting: (() => void)[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        sockets.delete(socket)
        resolve()
      })
    })
    // A killed process may reset the connection, so only its close counts.
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      const name = data.toString().trim()
      held.set(name, [...(held.get(name) ?? []), { socket, closed }])
      for (const wake of waiting.splice(0)) wake()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const find = async (name: string, nth: number): Promise<Held> => {
    for (;;) {
      const found = held.get(name)?.[nth - 1]
      if (found) return found
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return {
    hold: (name, script) => {
      const line = `exec 9<>/dev/tcp/127.0.0.1/${port}; echo ${name} >&9; ${script}`
      return `bash -c '${line.replaceAll("'", `'\\''`)}'`
    },
    alive: async (name, nth = 1) => void (await find(name, nth)),
    gone: async (name, nth = 1) => void (await (await find(name, nth)).closed),
    release: async (name, nth = 1) => void (await find(name, nth)).socket.write('go\n'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      waiting = []
      server.close()
      await once(server, 'close')
    },
  }
}
