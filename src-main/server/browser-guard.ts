import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { isLoopbackHost } from '../platform/config/loopback.ts'
import { validationFailed } from './refusals.ts'
import { isPagePath } from './web.ts'
import { webhookPath } from './webhook-route.ts'

type GuardedRequest = Pick<FastifyRequest, 'headers' | 'raw' | 'method' | 'url' | 'routeOptions'>

/**
 * Keeps other web pages out. A hostile page reaches a service by a name that it points here, so requests must be for
 * an IP address, a name of this machine or one in `allowed`; on loopback only for a loopback one or one in `allowed`.
 * A request with an `Origin` must come from the page that this service serves, and so must one with `Sec-Fetch-Site`,
 * unless a link opens the page itself. Throws `forbidden`, and `validation_failed` for a request with two hosts.
 *
 * A forge reaches the route of its webhooks by the name of a person's tunnel. There the signature of each delivery takes
 * the place of the host, and no browser may call it at all. So the tunnel's name need not be in `allowed`, where it would
 * open the whole service.
 */
export function createBrowserGuard(boundHost: string, allowed: readonly string[]): (request: GuardedRequest) => void {
  const localOnly = isLoopbackHost(boundHost)
  const names = new Set(allowed.map((name) => name.toLowerCase()))
  if (!localOnly) for (const name of [boundHost, hostname(), `${hostname()}.local`]) names.add(name.toLowerCase())
  const isOurs = (name: string) =>
    isLoopbackHost(name) || names.has(name) || (!localOnly && isIP(name.replace(/^\[|\]$/g, '')) !== 0)
  return (request) => {
    const { headers, raw } = request
    if (namesTwoHosts(raw.rawHeaders)) throw validationFailed('Host', 'Name one host, once.')
    if (request.routeOptions.url === webhookPath) {
      if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) throw foreignPage()
      return
    }
    const host = (headers.host ?? '').toLowerCase()
    if (!isOurs(hostName(host))) throw refusal(localOnly)
    if (isForeign(headers) && !isLinkToPage(request)) throw foreignPage()
    if (headers.origin === undefined) return
    const origin = URL.parse(headers.origin)
    if (origin === null || (origin.host !== host && !names.has(origin.hostname))) {
      throw foreignPage()
    }
  }
}

const foreignPage = () => new ApiError({ code: 'forbidden', message: "Other web pages can't call Copse." })

/** Browsers send no `Origin` with pictures, scripts and links of other pages. Programs send neither header. */
function isForeign({ 'sec-fetch-site': site }: GuardedRequest['headers']): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Routes of the page: the build's files, and paths without a route. */
const pageRoutes: ReadonlySet<string | undefined> = new Set([undefined, '/', '/*'])

/** Returns whether a link opens the page in a tab of its own, where the other page can't read or frame it. */
function isLinkToPage({ headers, method, url, routeOptions }: GuardedRequest): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return isNavigation && method === 'GET' && pageRoutes.has(routeOptions.url) && isPagePath({ method, url })
}

/** Node takes the first of two hosts, but a proxy may have checked the second. */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  const isHost = (name: string | undefined) => name?.length === 4 && name.toLowerCase() === 'host'
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (isHost(rawHeaders[index])) found += 1
  return found > 1
}

const hostName = (host: string) => host.replace(/:\d+$/, '')

function refusal(localOnly: boolean): ApiError {
  const message = localOnly
    ? 'This service answers on this machine only, as 127.0.0.1; behind a proxy, name its host in SVC_ALLOWED_HOSTS.'
    : 'This service does not go by this name. Use its address, or name it in SVC_ALLOWED_HOSTS.'
  return new ApiError({ code: 'forbidden', message })
}
