import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { createOpenApi } from '../../src-shared/contract/openapi.ts'
import type { Api } from '../api/api.ts'
import type { Logger } from '../base/log.ts'
import { urlOf } from './addresses.ts'
import { trackConnections } from './connections.ts'
import { createGuard } from './authenticate.ts'
import type { Authenticator, Guard } from './authenticate.ts'
import { createBrowserGuard } from './browser-guard.ts'
import { bodyLimit, sendError } from './http-errors.ts'
import { addMcpRoute } from './mcp.ts'
import { routeNotFound } from './refusals.ts'
import { addOperationRoutes, apiPrefix } from './rest.ts'
import { createSseStreams } from './sse.ts'
import type { SseTiming } from './sse.ts'
import { addStreamRoutes } from './streams.ts'
import { addWebRoutes, contentSecurityPolicy, isPagePath, sendPage } from './web.ts'

export interface ServerOptions {
  readonly api: Api
  readonly identity: Authenticator
  readonly config: {
    readonly host: string
    /** 0 picks a free one. */
    readonly port: number
    readonly version: string
    /** The folder of the built web UI; null serves none. */
    readonly webRoot: string | null
    readonly sse?: SseTiming
    /** How long `close` waits for requests under way before it ends them; 10 s by default. */
    readonly drainMs?: number
  }
  readonly log: Logger
}

export interface Server {
  /** Answers the address, with scheme and port. Rejects when the port is taken. */
  listen(): Promise<string>
  /** Ends streams, lets requests finish for a while and frees the port. Twice is harmless. */
  close(): Promise<void>
}

const defaultSse: SseTiming = { keepAliveMs: 15_000, stallMs: 30_000 }

/** The HTTP door: REST, event streams, MCP, the API's description and the web UI. */
export function createServer({ api, identity, config, log }: ServerOptions): Server {
  const lifetime = new AbortController()
  const app = createApp(config.host, log)
  const connections = trackConnections(app.server)
  const guard = createGuard(identity, api)
  const sse = createSseStreams(log, config.sse ?? defaultSse)
  const parts = { api, guard, lifetime: lifetime.signal }
  addOperationRoutes(app, parts)
  addStreamRoutes(app, parts, sse)
  const mcp = addMcpRoute(app, parts, { version: config.version, log })
  addDescriptionRoutes(app, config.version)
  if (config.webRoot !== null) addWebRoutes(app, config.webRoot)
  addNotFoundRoute(app, guard, config.webRoot !== null)
  return {
    listen: async () => {
      await app.listen({ host: config.host, port: config.port })
      const address = app.server.address()
      return urlOf(config.host, address !== null && typeof address === 'object' ? address.port : config.port)
    },
    close: async () => {
      const deadline = setTimeout(() => {
        lifetime.abort()
        app.server.closeAllConnections()
      }, config.drainMs ?? 10_000)
      try {
        const closed = Promise.all([sse.close(), mcp.close(), app.close()])
        connections.drain()
        await closed
      } finally {
        clearTimeout(deadline)
        lifetime.abort()
      }
    },
  }
}

function createApp(host: string, log: Logger): FastifyInstance {
  const app = Fastify({
    bodyLimit,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 500 },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, log),
  })
  const guardBrowsers = createBrowserGuard(host)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': contentSecurityPolicy,
    })
    if (request.url.startsWith(apiPrefix)) reply.header('cache-control', 'no-store')
    guardBrowsers(request)
  })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log))
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else void parseJson(request, body as string, done)
  })
  return app
}

function addDescriptionRoutes(app: FastifyInstance, version: string): void {
  const openApi = JSON.stringify(createOpenApi(version))
  app.route({ method: ['GET', 'HEAD'], url: '/healthz', handler: () => Promise.resolve({ status: 'ok', version }) })
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(openApi))
}

/** Below the API nobody learns without a token what is there. */
function addNotFoundRoute(app: FastifyInstance, guard: Guard, hasPage: boolean): void {
  app.setNotFoundHandler(async (request, reply) => {
    if (request.url.startsWith(`${apiPrefix}/`)) await guard.admit(request, 'anyone')
    if (hasPage && isPagePath(request)) return sendPage(reply)
    throw routeNotFound()
  })
}
