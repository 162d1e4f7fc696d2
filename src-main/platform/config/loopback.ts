import { BlockList, isIPv6 } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns whether a host name or address means this machine only. IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  // A fast path for nearly all requests; the block list takes longer.
  if (host === '127.0.0.1' || host.toLowerCase() === 'localhost') return true
  const address = host.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
