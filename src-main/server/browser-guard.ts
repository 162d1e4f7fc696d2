import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from './addresses.ts'

/**
 * Keeps foreign web pages out. A service on loopback answers only to a loopback name, so that no
 * page reaches it by a name that it lets point here; and whatever says where it comes from (`Origin`)
 * must come from the page that this service itself serves. Throws `forbidden`.
 */
export function createBrowserGuard(boundHost: string): (request: FastifyRequest) => void {
  const localOnly = isLoopbackHost(boundHost)
  return (request) => {
    const host = request.headers.host ?? ''
    if (localOnly && !isLoopbackHost(nameOf(host))) {
      throw new ApiError({ code: 'forbidden', message: 'This service answers on this machine only, as 127.0.0.1.' })
    }
    const { origin } = request.headers
    if (origin !== undefined && hostOf(origin) !== host.toLowerCase()) {
      throw new ApiError({ code: 'forbidden', message: 'Other web pages may not call this service.' })
    }
  }
}

const nameOf = (host: string) => host.replace(/:\d+$/, '')

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
