import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, internalError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { Logger } from '../platform/logging/log.ts'
import { routeNotFound } from './refusals.ts'

/** The largest request body, in bytes. */
export const bodyLimit = 5 * 1024 * 1024

/** Fastify's own refusals, as errors of the API. */
const frameworkRefusals: Readonly<Record<string, (limit: number) => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (limit) =>
    new ApiError({
      code: 'payload_too_large',
      message: `The request body is over the limit of ${Math.floor(limit / (1024 * 1024))} MB.`,
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError({ code: 'unsupported_media_type', message: 'Send the body as Content-Type: application/json.' }),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new ApiError({ code: 'invalid_json', message: 'The body is not valid JSON.' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError({ code: 'invalid_json', message: 'The body is not as long as Content-Length says.' }),
  FST_ERR_BAD_URL: routeNotFound,
  FST_ERR_MAX_PARAM_LENGTH: routeNotFound,
  // A path that leads out of the web UI's folder.
  FST_STATIC_FORBIDDEN_PATH: routeNotFound,
}

/** Returns the error for the client. Anything but a refusal is a bug, whose text goes to the log only. */
export function toApiError(error: unknown, log: Logger, limit = bodyLimit): ApiError {
  if (error instanceof ApiError) {
    if (error.code === 'internal_error') log.error({ err: error }, 'request failed')
    return error
  }
  const refusal = frameworkRefusals[(error as Partial<FastifyError> | null)?.code ?? '']
  if (refusal) return refusal(limit)
  log.error({ err: error }, 'request failed')
  return new ApiError(internalError)
}

/** Sends the error's status, body and headers. */
export async function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger) {
  // A client that hangs up in the middle of its request is no bug.
  const isCut = request.raw.destroyed && !request.raw.complete
  const refusal = isCut ? new ApiError(cutOff) : toApiError(error, log, request.routeOptions.bodyLimit)
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  const retryAfter = refusal.details?.['retry_after']
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter))
  await reply.code(refusal.status).type('application/json; charset=utf-8').send(JSON.stringify(refusal.toBody()))
}

/** Answers a malformed request with an API error and closes the connection. */
export function refuseConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = new ApiError(connectionRefusals[error.code ?? ''] ?? notHttp)
  const body = JSON.stringify(refusal.toBody())
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

const cutOff: Refusal = { code: 'validation_failed', message: 'The request ended before all of it was there.' }

const notHttp: Refusal = { code: 'validation_failed', message: 'This is not a valid HTTP/1.1 request.' }

const connectionRefusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { code: 'payload_too_large', message: 'The request headers are over the limit of 16 KB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { code: 'payload_too_large', message: 'The chunks of the body carry too much.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'validation_failed', message: 'The request took too long to arrive.' },
}
