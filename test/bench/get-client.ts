import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { serveParent } from './child.ts'

/**
 * Sends the same GET over and over on keep-alive connections, one request at a time on each, over bare sockets: a
 * full client would cost as much as the floor's whole route. Answers how long each took, in milliseconds.
 */
export interface GetRequest {
  readonly url: string
  readonly path: string
  readonly token: string
  readonly connections: number
  /** So many on each connection. */
  readonly requests: number
  /** Waits so long between two on a connection; 0 for none. */
  readonly pauseMs: number
}

serveParent<GetRequest, readonly number[]>(async (request) => {
  const { hostname, port, host } = new URL(request.url)
  const text = `GET ${request.path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${request.token}\r\n\r\n`
  const sockets = Array.from({ length: request.connections }, () => connect(Number(port), hostname).setNoDelay(true))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const took = await Promise.all(sockets.map((socket) => drive(socket, text, request)))
  for (const socket of sockets) socket.destroy()
  return took.flat()
})

function drive(socket: Socket, text: string, { requests, pauseMs }: GetRequest): Promise<readonly number[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>()
  const took: number[] = []
  let received = ''
  let since = 0
  const send = () => {
    since = performance.now()
    socket.write(text)
  }
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    const head = received.indexOf('\r\n\r\n')
    const length = /^content-length: (\d+)/im.exec(received)?.[1]
    if (head < 0 || received.length < head + 4 + Number(length)) return
    if (!received.startsWith('HTTP/1.1 200 ')) reject(new Error(`Answered: ${received.slice(0, 500)}`))
    received = ''
    took.push(performance.now() - since)
    if (took.length === requests) resolve(took)
    else if (pauseMs > 0) setTimeout(send, pauseMs)
    else send()
  })
  socket.once('close', () => reject(new Error('The server hung up.')))
  send()
  return promise
}
