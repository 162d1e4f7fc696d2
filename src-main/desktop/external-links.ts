import { BlockList, isIP } from 'node:net'

/** Functions for links out of the app. */
export interface LinkPorts {
  /** Asks whether to open an address that only this machine or network has. */
  ask(address: string): Promise<boolean>
  open(address: string): Promise<void>
}

/** Addresses that other machines on the internet can't have. */
const local = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  local.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  local.addSubnet(network, prefix, 'ipv6')
}

const localName = /^[^.]*$|\.(?:localhost|local|localdomain|internal|lan|home|home\.arpa|intranet|corp)$/

/** Returns how to treat a link out of the app: other schemes may start programs, and a local address may act on one. */
export function linkTreatment(address: string): 'open' | 'ask' | 'refuse' {
  const url = URL.parse(address)
  if (url?.protocol === 'mailto:') return 'open'
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'refuse'
  return isLocal(url.hostname) ? 'ask' : 'open'
}

/** Expects the host of a parsed URL, which has one spelling for each IPv4 address. */
function isLocal(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const version = isIP(host)
  return version === 0 ? localName.test(host) : local.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the function that opens links out of the app. While it asks about one, it ignores others. */
export function createExternalLinks({ ask, open }: LinkPorts): (address: string) => void {
  let asking = false
  return (address) => {
    const treatment = linkTreatment(address)
    if (treatment === 'refuse' || asking) return
    if (treatment === 'open') {
      void open(address)
      return
    }
    asking = true
    void ask(address)
      .then((isWanted) => (isWanted ? open(address) : undefined))
      .finally(() => (asking = false))
  }
}
