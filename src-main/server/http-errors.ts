import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Logger } from '../base/log.ts'
import { routeNotFound } from './refusals.ts'

/** The largest request body, in bytes. */
export const bodyLimit = 5 * 1024 * 1024

/** What Fastify itself refuses, in the API's words. */
const frameworkRefusals: Readonly<Record<string, () => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ApiError({ code: 'payload_too_large', message: 'A request body may have at most 5 MB.' }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError({ code: 'unsupported_media_type', message: 'Send the body as Content-Type: application/json.' }),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new ApiError({ code: 'invalid_json', message: 'The body is not valid JSON.' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError({ code: 'invalid_json', message: 'The body is not as long as Content-Length says.' }),
  FST_ERR_BAD_URL: routeNotFound,
  FST_ERR_MAX_PARAM_LENGTH: routeNotFound,
}

/** The error that a client sees. What is no refusal is a bug: its text goes to the log only. */
export function toApiError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) {
    if (error.code === 'internal_error') log.error({ err: error }, 'request failed')
    return error
  }
  const refusal = frameworkRefusals[(error as Partial<FastifyError> | null)?.code ?? '']
  if (refusal) return refusal()
  log.error({ err: error }, 'request failed')
  return new ApiError({ code: 'internal_error', message: 'Something went wrong here; the log says what. Try again.' })
}

/** Answers with the error's status, body and the headers that belong to its code. */
export async function sendError(error: unknown, _request: FastifyRequest, reply: FastifyReply, log: Logger) {
  const refusal = toApiError(error, log)
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  const retryAfter = refusal.details?.['retry_after']
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter))
  await reply.code(refusal.status).type('application/json; charset=utf-8').send(JSON.stringify(refusal.toBody()))
}
