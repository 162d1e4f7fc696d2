import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Passes requests on to the service, and loses answers. */
export interface LossyDoor extends AsyncDisposable {
  readonly url: string
  /** Returns whether the answer to a request is lost, after the service has given it. */
  loses: (path: string) => boolean
  /** Returns whether a request reaches the service twice, one after the other; the second answer is given. */
  repeats: (path: string) => boolean
  /** Returns how long a request is held up, in milliseconds, so that others overtake it. */
  holds: (path: string) => number
  /** Called when an answer was lost. */
  onLost: (path: string) => void
  /** Lets no request in, until it is opened again. */
  close(): void
  open(): void
}

export async function startLossyDoor(target: () => string): Promise<LossyDoor> {
  let isOpen = true
  /** `body`: null while it comes. */
  const send = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer | null, isLast: boolean): void => {
    const path = incoming.url ?? '/'
    const drop = (): void => void outgoing.socket?.destroy()
    const { method, headers } = incoming
    const onward = request(new URL(path, target()), { method, headers, agent: false })
    onward.on('error', drop)
    outgoing.on('close', () => onward.destroy())
    if (body === null) {
      incoming.on('error', () => onward.destroy())
      incoming.pipe(onward)
    } else onward.end(body)
    onward.on('response', (answer) => {
      if (!isLast || door.loses(path)) {
        answer.resume()
        answer.once('end', () => {
          if (!isLast) return send(incoming, outgoing, body, true)
          drop()
          door.onLost(path)
        })
        return
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
  }
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '/'
    const drop = (): void => void outgoing.socket?.destroy()
    if (!isOpen) return drop()
    const [held, isTwice] = [door.holds(path), door.repeats(path)]
    // What nothing is done to keeps its order.
    if (held === 0 && !isTwice) return send(incoming, outgoing, null, true)
    try {
      const parts = await incoming.toArray()
      await setTimeout(held)
      if (!isOpen) return drop()
      send(incoming, outgoing, Buffer.concat(parts as Buffer[]), !isTwice)
    } catch {
      drop()
    }
  }
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const door: LossyDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loses: () => false,
    repeats: () => false,
    holds: () => 0,
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
