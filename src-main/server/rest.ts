import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isShownImage } from '../../src-shared/contract/attachment-text.ts'
import { FileContent } from '../../src-shared/contract/attachments.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { LogSlice } from '../../src-shared/contract/executions.ts'
import type { OperationSpec } from '../../src-shared/contract/operation.ts'
import { operations } from '../../src-shared/contract/operations.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import type { Api, CallContext } from '../api/api.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { isPeerRelay } from '../platform/process/peer-user.ts'
import type { Guard } from './authenticate.ts'
import { createQueryReader, flatInput } from './flat-input.ts'
import { isForwarded, sourceOf } from './request-source.ts'
import { sessionCookie } from './session-cookie.ts'

type Values = Readonly<Record<string, unknown>>

/** Prefix of every path of the contract. */
export const apiPrefix = '/api/v1'

export interface RouteParts {
  readonly api: Api
  readonly guard: Guard
  /** Aborted when the server must end running requests. */
  readonly lifetime: AbortSignal
}

/** Adds one route per operation of the contract. */
export function addOperationRoutes(app: FastifyInstance, parts: RouteParts): void {
  for (const [name, spec] of Object.entries(operations)) addOperationRoute(app, name as OperationName, spec, parts)
}

/** Converts the contract's `{name}` to the router's syntax. */
export const routePath = (path: string) => apiPrefix + path.replace(/\{(\w+)\}/g, ':$1')

function addOperationRoute(app: FastifyInstance, name: OperationName, spec: OperationSpec, parts: RouteParts): void {
  const { api, guard, lifetime } = parts
  const readsBody = spec.method !== 'GET' && spec.method !== 'DELETE'
  const readQuery = createQueryReader(spec.input)
  app.route({
    method: spec.method,
    url: routePath(spec.path),
    ...(spec.bodyBytes !== undefined && { bodyLimit: spec.bodyBytes }),
    onRequest: async (request) => {
      await guard.admit(request, spec.who, name === 'auth.register' ? { ofRun: 'other_user' } : {})
      if (name === 'auth.local') await requireThisMachine(request)
    },
    handler: async (request, reply) => {
      const query = readQuery(readsBody ? only(request.query, spec.query ?? []) : (request.query as Values))
      const call = new RestCall(guard.principalOf(request), reply, lifetime)
      const isAsync = spec.deferred !== undefined && prefersAsync(request)
      const input = flatInput(query, readsBody ? request.body : null, request.params)
      const output = await api.call(name, isAsync ? { ...input, respond_async: true } : input, call)
      if (spec.responds === 'bytes') return sendSlice(reply, output)
      if (spec.responds === 'file') return sendFile(reply, output)
      const status = statusOf(spec, output)
      if (isAsync && status === 202) reply.header('preference-applied', 'respond-async')
      return sendJson(reply, status, output)
    },
  })
}

/**
 * A class because of its getter: an object literal with a getter has its own hidden class, by which V8 keeps it, its
 * closure and the whole request until the next full collection.
 */
class RestCall implements CallContext {
  readonly principal: CallContext['principal']
  readonly remote_address: string
  readonly #reply: FastifyReply
  readonly #lifetime: AbortSignal

  constructor(principal: CallContext['principal'], reply: FastifyReply, lifetime: AbortSignal) {
    this.principal = principal
    this.remote_address = reply.request.ip
    this.#reply = reply
    this.#lifetime = lifetime
  }

  get source(): NonNullable<CallContext['source']> {
    return sourceOf(this.#reply.request, this.principal)
  }

  get cookie(): NonNullable<CallContext['cookie']> {
    return sessionCookie(this.#reply)
  }

  /**
   * A change completes even if the caller leaves; only reads stop. Created lazily, because most reads finish before
   * anyone could leave, and a signal costs more than they do.
   */
  get signal(): AbortSignal {
    return this.#reply.request.method === 'GET' ? untilGone(this.#reply, this.#lifetime) : this.#lifetime
  }
}

function statusOf({ status, unchanged, deferred }: OperationSpec, output: unknown): number {
  if (unchanged !== undefined && (output as Values)[unchanged] === false) return 200
  return deferred !== undefined && (output as Values)[deferred] === true ? 202 : status
}

/** Returns whether the client does not want to wait (RFC 7240). */
const prefersAsync = (request: FastifyRequest): boolean =>
  [request.headers.prefer].flat().some((one) => /(^|[,;\s])respond-async($|[,;\s])/i.test(one ?? ''))

/** Keeps only the named query values: a secret must come in the body, because proxies log addresses. */
function only(query: unknown, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(query as Values).filter(([name]) => names.includes(name)))
}

/** Returns a signal that aborts when the client leaves before its response, or with `lifetime`. */
export function untilGone(reply: FastifyReply, lifetime: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!reply.raw.writableFinished) controller.abort()
  }
  if (reply.raw.closed) leave()
  else reply.raw.once('close', leave)
  return AbortSignal.any([controller.signal, lifetime])
}

/** Refuses requests through a proxy or a tunnel, because a one-time code is for a page on this machine. */
async function requireThisMachine(request: FastifyRequest): Promise<void> {
  if (isForwarded(request) || !isLoopbackHost(request.ip) || (await isPeerRelay(request.raw.socket))) {
    throw new ApiError({ code: 'invalid_credentials', message: 'One-time codes work on this machine only. Sign in.' })
  }
}

function sendJson(reply: FastifyReply, status: number, output: unknown): FastifyReply {
  reply.code(status)
  if (status === 204) return reply.send()
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(output))
}

function sendSlice(reply: FastifyReply, output: unknown): FastifyReply {
  const slice = LogSlice.parse(output)
  return reply
    .header('x-next-offset', String(slice.next_offset))
    .header('x-complete', String(slice.complete))
    .type('application/octet-stream')
    .send(Buffer.from(slice.data_base64, 'base64'))
}

/** Keeps browsers from running a downloaded file, or showing more than an image. */
const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

function sendFile(reply: FastifyReply, output: unknown): FastifyReply {
  const { name, media_type, data_base64 } = FileContent.parse(output)
  const place = isShownImage(media_type) ? 'inline' : 'attachment'
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return reply
    .header('content-disposition', `${place}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`)
    .header('content-security-policy', filePolicy)
    .type(media_type === 'text/plain' ? 'text/plain; charset=utf-8' : media_type)
    .send(Buffer.from(data_base64, 'base64'))
}

/** Encodes by RFC 8187, which allows fewer characters than a URL. */
const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
