/**
 * Hosts that people allow contained runs to reach: a name, a name with `*.` before it, or an IPv4 address, each with or
 * without a port; of this machine itself single ports of 127.0.0.1.
 */
interface HostEntry {
  readonly host: string
  readonly isWildcard: boolean
  readonly port: string | undefined
}

const shape = /^(?<wildcard>\*\.)?(?<host>[\w-]+(?:\.[\w-]+)*)(?::(?<port>[^:/]*))?$/

function parse(text: string): HostEntry | null {
  const { wildcard, host = '', port } = shape.exec(text)?.groups ?? {}
  return host === '' || host.split('.').some((label) => label.length > 63) || host.length > 253
    ? null
    : { host: host.toLowerCase(), isWildcard: wildcard !== undefined, port }
}

/** Returns an IPv4 address in its usual form, as in 127.0.0.1 for 127.1 and 0x7f000001; null for what is none. */
function ipv4(host: string): string | null {
  const parts = host.split('.')
  if (parts.length > 4 || !parts.every((part) => /^(?:0x[\da-f]+|\d+)$/.test(part))) return null
  const numbers = parts.map((part) => (/^0\d/.test(part) ? Number.parseInt(part, 8) : Number(part)))
  const last = numbers.pop() ?? 0
  const left = 4 - numbers.length
  if (numbers.some((number) => number > 255) || !(last < 256 ** left)) return null
  return [...numbers, ...Array.from({ length: left }, (_, at) => Math.floor(last / 256 ** (left - 1 - at)) % 256)].join(
    '.',
  )
}

const endsInNumber = (host: string): boolean => /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(host)
const isLoopbackName = (host: string): boolean => /(?:^|\.)localhost6?(?:\.localdomain6?)?$/.test(host)

/** Returns the entry as it is saved: addresses in their usual form, and 127.0.0.1 for `localhost`. */
export function normalHost(text: string): string {
  const entry = parse(text.trim())
  if (entry === null || entry.isWildcard) return text.trim()
  const address = entry.host === 'localhost' ? '127.0.0.1' : ipv4(entry.host)
  if (address === null) return text.trim()
  return entry.port === undefined ? address : `${address}:${entry.port}`
}

/** Returns the port of this machine that an entry allows; null for other entries. */
export function localPort(text: string): number | null {
  const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(normalHost(text)) ?? []
  return port === undefined || hostProblem(text) !== null ? null : Number(port)
}

/** Ports that the library's own proxies have inside each run; below 1024 it may not listen there. */
const takenInside: readonly number[] = [1_080, 3_128]

/** Returns why no run can reach an entry, or why it is too wide; null if it can be allowed. */
export function hostProblem(text: string): string | null {
  const entry = parse(text)
  if (entry === null) return shapeProblem(text)
  const { host, isWildcard, port } = entry
  if (port !== undefined && !/^[1-9]\d{0,4}$/.test(port)) return noPort(text)
  if (Number(port ?? 1) > 65_535) return noPort(text)
  if (isWildcard) return wildcardProblem(text, host)
  const address = ipv4(host)
  if (address !== null || host === 'localhost') return addressProblem(text, address ?? '127.0.0.1', port)
  if (/^[\d.]+-[\d.]+$/.test(host)) return range(text)
  if (endsInNumber(host)) return notHost(text)
  if (isLoopbackName(host)) return ownAddress(text)
  if (metadataNames.has(host)) return linkLocal(text)
  return host.includes('.') ? null : notHost(text)
}

function shapeProblem(text: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return `${text} is a URL. Enter its host alone.`
  if (/^[\d.:a-f]+\/\d+$/i.test(text) || /^[\d.*]*\d[\d.*]*$/.test(text)) return range(text)
  const [, address] = /^\[?([\da-f]*:[\da-f:.]*:[\da-f:.]*)(?:%\w+)?(?:\](?::\d+)?)?$/i.exec(text) ?? []
  if (address === undefined) return notHost(text)
  return /^(?:0*:)*:?0*1?$|^::ffff:127\./i.test(address) ? ownAddress(text) : ipv6(text)
}

function addressProblem(text: string, address: string, port: string | undefined): string | null {
  const [first = 0, second] = address.split('.').map(Number)
  if (address === '127.0.0.1') {
    if (port === undefined) return `${text} needs a port, such as 127.0.0.1:11434.`
    if (Number(port) < 1_024) return `${text}: a run can't reach ports below 1024 of this machine. Use another port.`
    return takenInside.includes(Number(port)) ? taken(port) : null
  }
  if (first === 127 || first === 0) return ownAddress(text)
  if ((first === 169 && second === 254) || metadataAddresses.has(address)) return linkLocal(text)
  return first >= 224 ? `${text} isn't the address of a single host.` : null
}

function wildcardProblem(text: string, domain: string): string | null {
  if (ipv4(domain) !== null || endsInNumber(domain)) return range(text)
  if (isLoopbackName(domain)) return ownAddress(text)
  const [top = '', second, ...more] = domain.split('.').toReversed()
  // Registries of countries sell names below these, as in co.uk and com.au.
  const isPublic = second === undefined || (more.length === 0 && top.length === 2 && publicSecond.has(second))
  return isPublic ? `${text} covers the hosts of strangers. Enter a domain, such as *.example.com.` : null
}

const publicSecond = new Set(['ac', 'co', 'com', 'edu', 'gob', 'gouv', 'gov', 'go', 'mil', 'ne', 'net', 'or', 'org'])

/** Addresses of clouds that give out a machine's credentials, besides the link-local ones. */
const metadataAddresses: ReadonlySet<string> = new Set(['100.100.100.200', '168.63.129.16', '192.0.0.192'])
const metadataNames: ReadonlySet<string> = new Set(['metadata.google.internal', 'metadata.goog'])

const notHost = (text: string): string =>
  `${text} isn't a host. Enter one such as registry.example.com, or 127.0.0.1:11434 for a port of this machine.`
const noPort = (text: string): string => `${text} has no valid port. Ports are 1 to 65535.`
const range = (text: string): string => `${text} is a range of addresses. Enter each host.`
const ipv6 = (text: string): string => `${text} is an IPv6 address, which can't be allowed. Enter the host's name.`
const ownAddress = (text: string): string =>
  `${text} is an address of this machine. Enter 127.0.0.1 with a port instead.`
const linkLocal = (text: string): string => `${text} is a link-local or cloud metadata address, which no run can reach.`
const taken = (port: string): string =>
  `Port ${port} of this machine can't be allowed, because contained runs use it themselves. Use another port.`
