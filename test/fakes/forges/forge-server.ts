import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ForgeRequestSeen {
  readonly method: string
  /** As sent: escapes stay. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  /** Of JSON; null without a body. */
  readonly body: unknown
}

export interface ForgeReply {
  readonly status: number
  /** Sent as JSON, or as it is where it is a string. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ForgeServer extends AsyncDisposable {
  readonly url: string
  readonly requests: ForgeRequestSeen[]
  /** What the server itself failed at: a test that sees some has found a fault of the server. */
  readonly failures: unknown[]
  /** Asked first for every request; `null` leaves the answer to the server. */
  instead: ((request: ForgeRequestSeen) => ForgeReply | null | Promise<ForgeReply | null>) | null
}

/** Takes requests that are none of the API's, as git's; returns false for others, without an answer. */
export type Mount = (request: IncomingMessage, response: ServerResponse) => boolean

type Answering = (request: ForgeRequestSeen) => Promise<ForgeReply>

/** Starts a server on this machine that speaks JSON. */
export async function startForgeServer(answer: Answering, mount?: Mount): Promise<ForgeServer> {
  const server = createServer((incoming, response) => {
    if (mount?.(incoming, response) !== true) void respond(incoming, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const forge: ForgeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    failures: [],
    instead: null,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  async function respond(incoming: IncomingMessage, response: ServerResponse) {
    try {
      const request = await readRequest(incoming)
      forge.requests.push(request)
      write(response, (await forge.instead?.(request)) ?? (await answer(request)))
    } catch (error) {
      forge.failures.push(error)
      write(response, { status: 500, body: { message: String(error) } })
    }
  }
  return forge
}

async function readRequest(incoming: IncomingMessage): Promise<ForgeRequestSeen> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const url = new URL(incoming.url ?? '/', 'http://forge')
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: text === '' ? null : (JSON.parse(text) as unknown),
  }
}

function write(response: ServerResponse, { status, body, headers = {} }: ForgeReply) {
  const isText = typeof body === 'string'
  response.writeHead(status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    ...headers,
  })
  response.end(isText ? body : body === undefined ? '' : JSON.stringify(body))
}
