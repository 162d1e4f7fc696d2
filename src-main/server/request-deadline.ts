import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { refuseConnection } from './http-errors.ts'

const lift = Symbol('lifts the deadline of a request')

interface LimitedRequest extends IncomingMessage {
  [lift]?: () => void
}

/** Cuts off requests whose bodies take too long. Node's own limit can't be lifted for one request. */
export function limitRequestTime(server: Server, ms: number): void {
  server.prependListener('request', (request: LimitedRequest, response: ServerResponse) => {
    const { headers, socket } = request
    if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length'] ?? 0) > 0)) return
    const timer = setTimeout(() => {
      // All of it is there, and waits to be read.
      if (request.complete) return
      if (response.headersSent) socket.destroy()
      else refuseConnection(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    }, ms)
    const stop = (): void => clearTimeout(timer)
    request[lift] = stop
    request.once('end', stop).once('close', stop)
  })
}

/** Lets the body of a request take as long as it likes. */
export function liftDeadline(request: IncomingMessage): void {
  ;(request as LimitedRequest)[lift]?.()
}
