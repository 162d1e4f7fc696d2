import type { FastifyRequest } from 'fastify'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { isPeerSameUser } from '../platform/process/peer-user.ts'
import type { CallContext } from '../api/api.ts'

/** Returns where a request comes from, as far as its headers and connection say. */
export function sourceOf(
  request: FastifyRequest,
  principal: CallContext['principal'],
): NonNullable<CallContext['source']> {
  return {
    address: request.ip,
    client: request.headers['user-agent'] ?? null,
    atWindow: principal.kind === 'operator' || (principal.kind === 'user' && principal.via === 'local'),
    isSameUser: async () => !isForwarded(request) && (await isPeerSameUser(request.raw.socket)),
  }
}

/** Returns whether a proxy forwarded the request: then the connected process is the proxy. */
export function isForwarded({ headers, raw }: FastifyRequest): boolean {
  const names = Object.keys(headers)
  if (names.some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'))) return true
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  return !isLoopbackHost(host) || !isLoopbackHost(raw.socket.remoteAddress ?? '')
}
