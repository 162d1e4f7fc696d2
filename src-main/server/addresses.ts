import { isIPv6 } from 'node:net'

/** The address under which a client on this machine reaches a server that is bound to `host`. */
export function urlOf(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}
