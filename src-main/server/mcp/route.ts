import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { McpHttpHandler, McpServer, Server } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { createMcpChanges } from './changes.ts'
import { createMcpScope } from './scope.ts'
import type { McpCaller } from './scope.ts'
import { createMcpServer } from './server.ts'
import { createMcpSessions } from './sessions.ts'
import { apiPrefix, untilGone } from '../rest.ts'
import type { RouteParts } from '../rest.ts'

/** Maximum of messages per batch of an older protocol. */
const maxBatch = 50

export interface McpOptions {
  readonly version: string
  readonly log: Logger
  /** Interval of keep-alives; each also checks the caller's token again. */
  readonly keepAliveMs: number
  /** How long a client may leave output unread. */
  readonly stallMs: number
  /** Creates the served MCP server; by default that of Copse. */
  readonly createServer?: () => McpServer | Server
}

/**
 * Adds the MCP endpoint: stateless Streamable HTTP for clients of both protocol versions. The token may also be
 * `?token=`, for clients that can't set a header.
 */
export function addMcpRoute(app: FastifyInstance, parts: RouteParts, options: McpOptions): { close(): Promise<void> } {
  const { guard, lifetime } = parts
  const open = new Set<McpHttpHandler>()
  const sessions = createMcpSessions()
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: `${apiPrefix}/mcp`,
    onRequest: (request) => guard.admit(request, 'anyone', { query: true, reads: true }),
    handler: async (request, reply) => {
      refuseLargeBatch(request.body)
      const cancelled = sessions.begin(request.headers, request.body, reply.raw)
      const gone = AbortSignal.any([untilGone(reply, lifetime), cancelled])
      const caller = { principal: guard.principalOf(request), remote_address: request.ip, gone, lifetime }
      const handler = createCallerHandler(parts, caller, options)
      const limit = limitStall(reply.raw, request.raw.socket, options.stallMs)
      const recheck = setInterval(() => {
        guard.recheck(request).catch(() => handler.close())
        limit()
      }, options.keepAliveMs)
      open.add(handler)
      reply.raw.once('close', () => {
        clearInterval(recheck)
        open.delete(handler)
      })
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      reply.hijack()
      const serve = toNodeHandler(handler, { onerror: noted(options.log) })
      await serve(request.raw as NodeIncomingMessageLike, reply.raw, request.body)
    },
  })
  return {
    close: async () => {
      await Promise.all([...open].map((handler) => handler.close()))
    },
  }
}

/** Limits how long the client may leave output unread; the time of a tool call itself is not limited. */
function limitStall(response: ServerResponse, socket: Socket, stallMs: number): () => void {
  let isLimited = false
  response.on('drain', () => {
    isLimited = false
    socket.setTimeout(0)
  })
  return () => {
    // Only once, because each call would restart the timer.
    if (isLimited || !response.writableNeedDrain) return
    isLimited = true
    socket.setTimeout(stallMs)
  }
}

/** Creates the handler of one request, limited to what its caller may see and do. */
function createCallerHandler({ api }: RouteParts, caller: McpCaller, options: McpOptions): McpHttpHandler {
  const { version, log, keepAliveMs, createServer } = options
  const scope = createMcpScope(api, caller)
  const handler: McpHttpHandler = createMcpHandler(
    ({ era }) => createServer?.() ?? createMcpServer(scope, { version, log, tells: era === 'modern' }),
    {
      keepAliveMs,
      onerror: noted(log),
      bus: createMcpChanges(api, caller, (error) => {
        noted(log)(error)
        void handler.close()
      }),
    },
  )
  return handler
}

const noted = (log: Logger) => (error: unknown) => {
  log.debug({ err: error }, 'mcp request refused')
}

function refuseLargeBatch(body: unknown): void {
  if (!Array.isArray(body) || body.length <= maxBatch) return
  throw new ApiError({ code: 'payload_too_large', message: `Send at most ${maxBatch} messages in one request.` })
}
