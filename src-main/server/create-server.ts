import { type Socket, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { createOpenApi } from '../../src-shared/contract/openapi.ts'
import type { Api } from '../api/api.ts'
import type { JobGit } from '../api/job-git.ts'
import { pagePolicy } from '../platform/config/page-policy.ts'
import type { Logger } from '../platform/logging/log.ts'
import { createAddressLimits, type AddressBudget, type AddressLimits } from './address-limits.ts'
import { trackConnections } from './connections.ts'
import { createGuard, type Authenticator, type Guard } from './authenticate.ts'
import { createBrowserGuard } from './browser-guard.ts'
import { addCompression } from './compress.ts'
import { addGitRoute } from './git-route.ts'
import { bodyLimit, refuseConnection, sendError } from './http-errors.ts'
import type { JobApi } from '../api/job-api.ts'
import { addJobRoutes } from './job-routes.ts'
import { addMcpRoute } from './mcp/route.ts'
import { readJson } from './read-json.ts'
import { routeNotFound, validationFailed } from './refusals.ts'
import { addOperationRoutes, apiPrefix } from './rest.ts'
import { limitRequestTime } from './request-deadline.ts'
import { createRunPeers } from './run-peers.ts'
import { createRunnerLinks } from './runner-links.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { createSseStreams, type SseTiming } from './sse.ts'
import { addStreamRoutes } from './streams.ts'
import { addWebRoutes, isPagePath, sendPage } from './web.ts'
import { addWebhookRoute } from './webhook-route.ts'

/** API responses are data: nothing in them may run or show as a page. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
const page = { ...always, 'content-security-policy': pagePolicy }
const data = { ...always, 'content-security-policy': dataPolicy, 'cache-control': 'no-store' }
const encrypted = { 'strict-transport-security': `max-age=${365 * 24 * 60 * 60}` }

/** Returns the security headers of every response. */
function securityHeaders(isApi: boolean, isEncrypted: boolean): Readonly<Record<string, string>> {
  const headers = isApi ? data : page
  return isEncrypted ? { ...headers, ...encrypted } : headers
}

export interface ServerOptions {
  readonly api: Api
  readonly identity: Authenticator
  /** The git of runners; without it there is no such route. */
  readonly jobGit?: JobGit
  /** What runners ask; without it no runner can connect. */
  readonly jobs?: JobApi
  readonly config: {
    readonly host: string
    /** 0 picks a free port. */
    readonly port: number
    readonly version: string
    /** The folder of the built web UI; null serves none. */
    readonly webRoot: string | null
    readonly sse?: SseTiming
    /** Further names by which the service may be called. */
    readonly allowedHosts?: readonly string[]
    /** Proxies trusted to name the caller's address, as addresses or networks. */
    readonly trustProxy?: readonly string[]
    /** PEM texts; null serves plain HTTP. */
    readonly tls?: { readonly cert: string; readonly key: string } | null
    readonly limits?: ServerLimits
    /** The limit of connections; the last tenth is reserved for owners of few. */
    readonly maxConnections?: number
    /** How long `close` waits for running requests; 10 s by default. */
    readonly drainMs?: number
  }
  readonly log: Logger
}

/** Time limits and request budget of clients. */
interface ServerLimits extends AddressBudget {
  /** Time limits for the head of a request, and for the whole request. */
  readonly headersMs: number
  readonly requestMs: number
  /** How long a client may leave a ready response unread. */
  readonly stallMs: number
  readonly connections: number
}

const defaultLimits: ServerLimits = {
  requests: 6_000,
  failures: 60,
  headersMs: 10_000,
  requestMs: 30_000,
  stallMs: 30_000,
  connections: 2_000,
}

export interface Server {
  /** Resolves with the URL. Rejects if the port is taken. */
  listen(): Promise<string>
  /** Serves a connection that comes by the link of a runner. */
  acceptRunner(connection: Duplex, runner_id: RunnerId): void
  /** Ends streams, gives requests time to finish and frees the port. Safe to call twice. */
  close(): Promise<void>
}

const defaultSse: SseTiming = { keepAliveMs: 15_000, stallMs: 30_000 }

/** Creates the HTTP server: REST, event streams, MCP, webhooks, the OpenAPI description and the web UI. */
export function createServer({ api, identity, jobGit, jobs, config, log }: ServerOptions): Server {
  const lifetime = new AbortController()
  const limits = config.limits ?? { ...defaultLimits, connections: config.maxConnections ?? defaultLimits.connections }
  const addresses = createAddressLimits(limits)
  const app = createApp(config, { log, limits, addresses })
  const connections = trackConnections(app.server, limits.connections)
  const links = createRunnerLinks(
    app.server,
    (runner_id, execution_id) => jobs?.hasRun(runner_id, execution_id) ?? false,
  )
  const runs = createRunPeers()
  const guard = createGuard(app, { authenticator: identity, api, addresses, connections, runs, links })
  const sse = createSseStreams(log, config.sse ?? defaultSse)
  const parts = { api, guard, lifetime: lifetime.signal }
  addOperationRoutes(app, parts)
  addStreamRoutes(app, parts, sse)
  const mcp = addMcpRoute(app, parts, {
    version: config.version,
    log,
    keepAliveMs: (config.sse ?? defaultSse).keepAliveMs,
    stallMs: limits.stallMs,
  })
  addDescriptionRoutes(app, config.version)
  addWebhookRoute(app, parts, addresses)
  if (jobs) addJobRoutes(app, jobs, { guard, addresses, links })
  if (jobGit) addGitRoute(app, jobGit, { guard, addresses, log })
  if (config.webRoot !== null) addWebRoutes(app, config.webRoot)
  addNotFoundRoute(app, guard, config.webRoot !== null)
  return {
    acceptRunner: links.accept,
    listen: async () => {
      await app.listen({ host: config.host, port: config.port })
      const address = app.server.address()
      const port = address !== null && typeof address === 'object' ? address.port : config.port
      return urlOf(config.host, port, config.tls ? 'https' : 'http')
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

interface AppParts {
  readonly log: Logger
  readonly limits: ServerLimits
  readonly addresses: AddressLimits
}

function createApp(config: ServerOptions['config'], { log, limits, addresses }: AppParts): FastifyInstance {
  const patience = { headersTimeout: limits.headersMs, connectionsCheckingInterval: Math.min(limits.headersMs, 5_000) }
  const app = Fastify({
    bodyLimit,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    requestTimeout: 0,
    routerOptions: { maxParamLength: 500 },
    trustProxy: config.trustProxy?.length ? [...config.trustProxy] : false,
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, log),
    clientErrorHandler: (error, socket) => {
      refuseConnection(error, socket)
    },
    ...(config.tls ? { https: { ...config.tls, ...patience } } : { http: patience }),
  }) as unknown as FastifyInstance
  limitRequestTime(app.server, limits.requestMs)
  app.server.maxConnections = limits.connections
  app.server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0)
      log.warn({ buffered: socket.writableLength }, 'dropped a client: it took nothing of its answer')
    socket.destroy()
  })
  const guardBrowsers = createBrowserGuard(config.host, config.allowedHosts ?? [])
  // Synchronous hooks, because every request passes them.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders(isOfApi(request), config.tls != null))
    addresses.admit(request.ip)
    guardBrowsers(request)
    if (!request.url.startsWith('/')) throw notAPath()
    done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    // Applies until the response is sent; then the connection's keep-alive timeout does.
    request.raw.socket.setTimeout(limits.stallMs)
    done()
  })
  addCompression(app)
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    refuseEncoded(request)
    return readJson(body)
  })
  return app
}

/** Returns whether a path belongs to the API, also when encoded, such as `/%61pi/v1`. */
const isOfApi = (request: FastifyRequest): boolean =>
  request.url.startsWith(apiPrefix) || request.routeOptions.url?.startsWith(apiPrefix) === true

/** A proxy-style request has its own host in the URL, which nothing has checked. */
const notAPath = () => validationFailed('address', 'Send the path alone, such as /healthz.')

/** Refuses compressed bodies: a small one may unpack to a huge one. */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encodings = [headers['content-encoding'] ?? 'identity', headers['transfer-encoding'] ?? 'chunked']
  if (encodings.join() === 'identity,chunked') return
  throw new ApiError({ code: 'unsupported_media_type', message: 'Send the body as it is, without packing it.' })
}

function addDescriptionRoutes(app: FastifyInstance, version: string): void {
  // Generated on demand: it would take half of the start-up time and few ask for it.
  let openApi: string | undefined
  const written = () => (openApi ??= JSON.stringify(createOpenApi(version)))
  app.route({ method: ['GET', 'HEAD'], url: '/healthz', handler: () => Promise.resolve({ status: 'ok', version }) })
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(written()))
}

/** Below the API the token is checked first, so that no one learns without one what exists. */
function addNotFoundRoute(app: FastifyInstance, guard: Guard, hasPage: boolean): void {
  app.setNotFoundHandler(async (request, reply) => {
    if (request.url.startsWith(`${apiPrefix}/`)) await guard.admit(request, 'anyone')
    if (hasPage && isPagePath(request)) return sendPage(reply)
    throw routeNotFound()
  })
}

/** Returns the URL by which a client on this machine reaches a server bound to `host`. */
function urlOf(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}
