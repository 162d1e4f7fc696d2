import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { noteRelay } from '../platform/process/live-trees.ts'

/** A port of this machine that a run without the machine's network reaches, by a socket in its own folder. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number
  readonly path: string
}

/** A run whose connections are forwarded. */
export interface ForwardedRun {
  /** Its own folder. */
  readonly folder: string
  /** As which the API takes its connections. */
  readonly processMarker: string
}

/** Forwards a socket in a run's folder to an address. Inside the run, the same port leads to the socket. */
export async function forwardPort(run: ForwardedRun, host: string, port: number): Promise<Forwarder> {
  const { folder, processMarker } = run
  const path = join(folder, `${port}.sock`)
  const open = new Set<Socket>()
  const server = createServer((inside) => {
    const outside = connect({ host, port })
    // Before anything is written to it.
    outside.once('connect', () => noteRelay(outside, processMarker))
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => open.delete(from))
      from.pipe(to)
    }
  })
  server.listen(path)
  await once(server, 'listening')
  server.unref()
  return {
    port,
    path,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the host and the port of a service's URL. */
export const addressOf = ({ hostname, port, protocol }: URL): readonly [host: string, port: number] => [
  hostname.replace(/^\[|\]$/g, ''),
  Number(port || (protocol === 'https:' ? 443 : 80)),
]
