import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Passes requests on to the service, and loses answers. */
export interface LossyDoor extends AsyncDisposable {
  readonly url: string
  /** Returns whether the answer to a request is lost, after the service has given it. */
  loses: (path: string) => boolean
  /** Called when an answer was lost. */
  onLost: (path: string) => void
  /** Lets no request in, until it is opened again. */
  close(): void
  open(): void
}

export async function startLossyDoor(target: () => string): Promise<LossyDoor> {
  let isOpen = true
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const path = incoming.url ?? '/'
    const drop = (): void => void outgoing.socket?.destroy()
    if (!isOpen) return drop()
    const { method, headers } = incoming
    const onward = request(new URL(path, target()), { method, headers, agent: false })
    onward.on('error', drop)
    incoming.on('error', () => onward.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
    onward.on('response', (answer) => {
      if (door.loses(path)) {
        answer.resume()
        answer.once('end', () => {
          drop()
          door.onLost(path)
        })
        return
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
  }
  const server = createServer(pass)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const door: LossyDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loses: () => false,
    onLost: () => undefined,
    close: () => {
      isOpen = false
      server.closeAllConnections()
    },
    open: () => {
      isOpen = true
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return door
}
