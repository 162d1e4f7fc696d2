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
import type { Guard } from './authenticate.ts'
import { createQueryReader, flatInput } from './flat-input.ts'
import { isForwarded, sourceOf } from './request-source.ts'

type Values = Readonly<Record<string, unknown>>

/** Where every path of the contract lies. */
export const apiPrefix = '/api/v1'

export interface RouteParts {
  readonly api: Api
  readonly guard: Guard
  /** Aborted when the server has to end what is still under way. */
  readonly lifetime: AbortSignal
}

/** One route for each operation of the contract. */
export function addOperationRoutes(app: FastifyInstance, parts: RouteParts): void {
  for (const [name, spec] of Object.entries(operations)) addOperationRoute(app, name as OperationName, spec, parts)
}

/** The contract's `{name}` in the router's words. */
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
      await guard.admit(request, spec.who)
      if (name === 'auth.local') requireThisMachine(request)
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
 * A class for its getter: an object with a getter of its own has a hidden class of its own too, by which V8 keeps it,
 * its closure and the whole request until the next full collection.
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

  /**
   * Whoever asks for a change and leaves still gets it; only reading stops. Most reads are done before anybody could
   * leave and look at no signal, which costs more to make than they do.
   */
  get signal(): AbortSignal {
    return this.#reply.request.method === 'GET' ? untilGone(this.#reply, this.#lifetime) : this.#lifetime
  }
}

function statusOf({ status, unchanged, deferred }: OperationSpec, output: unknown): number {
  if (unchanged !== undefined && (output as Values)[unchanged] === false) return 200
  return deferred !== undefined && (output as Values)[deferred] === true ? 202 : status
}

/** The client does not want to wait for what takes long (RFC 7240). */
const prefersAsync = (request: FastifyRequest): boolean =>
  [request.headers.prefer].flat().some((one) => /(^|[,;\s])respond-async($|[,;\s])/i.test(one ?? ''))

/** A secret that belongs into a body does not come in by an address, which proxies write down. */
function only(query: unknown, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(query as Values).filter(([name]) => names.includes(name)))
}

/** Aborts when the client goes away before it has its answer, or with `lifetime`. */
export function untilGone(reply: FastifyReply, lifetime: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!reply.raw.writableFinished) controller.abort()
  }
  if (reply.raw.closed) leave()
  else reply.raw.once('close', leave)
  return AbortSignal.any([controller.signal, lifetime])
}

/** A one-time code is for a page on this machine, not for one that a proxy here forwards. */
function requireThisMachine(request: FastifyRequest): void {
  if (isForwarded(request) || !isLoopbackHost(request.ip)) {
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

/** Whatever is in the file, a browser that is led to it runs none of it, and shows no more than a picture. */
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

/** By RFC 8187, which lets fewer characters stand than an address. */
const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
