import { createServer } from '../../../src-main/server/create-server.ts'
import type { ServerOptions } from '../../../src-main/server/create-server.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { here, lasting, openIdentity } from '../identity/open-identity.ts'
import type { OpenIdentity } from '../identity/open-identity.ts'
import { createSmallApi } from './small-api.ts'
import type { SmallApi } from './small-api.ts'

export interface OpenServer extends AsyncDisposable {
  readonly url: string
  readonly api: SmallApi
  readonly identity: OpenIdentity['identity']
  readonly time: OpenIdentity['time']
  /** A token of the first person. */
  readonly token: string
  /** The lines of the service's log. */
  readonly logged: readonly string[]
  /** One request with that person's token; `token: null` sends none. */
  request(path: string, init?: RequestInit & { token?: string | null }): Promise<Response>
  close(): Promise<void>
}

/** A real server on a free port over a small API and a real identity. */
export async function openServer(config: Partial<ServerOptions['config']> = {}): Promise<OpenServer> {
  const opened = await openIdentity()
  const api = createSmallApi(opened.identity)
  const logged: string[] = []
  const log = createLogger({ level: 'debug', stream: { write: (line) => void logged.push(line) } })
  const server = createServer({
    api,
    identity: opened.identity,
    config: { host: '127.0.0.1', port: 0, version: '1.2.3', webRoot: null, ...config },
    log,
  })
  const url = await server.listen()
  const owner = { email: 'owner@example.com', password: 'correct horse', display_name: 'Owner' }
  const session = await opened.identity.register(owner, here)
  const { token } = opened.identity.tokens.create(session.user.id, lasting('tests'))
  return {
    url,
    api,
    identity: opened.identity,
    time: opened.time,
    token,
    logged,
    request: (path, { token: given = token, headers, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: {
          ...(init.body !== undefined && { 'content-type': 'application/json' }),
          ...(given !== null && { authorization: `Bearer ${given}` }),
          ...(headers as Record<string, string> | undefined),
        },
      }),
    close: () => server.close(),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await opened[Symbol.asyncDispose]()
    },
  }
}
