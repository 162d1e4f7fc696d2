import { connect, createServer } from 'node:net'

/**
 * Addresses at which a used port is noticed. A wildcard covers every address, but only Linux refuses one that another
 * address has, and on other systems the firewall would ask the user.
 */
const places = process.platform === 'linux' ? ['0.0.0.0', '::'] : ['127.0.0.1', '::1']
const loopback = ['127.0.0.1', '::1']

/** Error codes of an address family that this machine lacks. */
const absent = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Returns whether all of these ports can be bound and none accepts connections. */
export async function arePortsFree(ports: readonly number[]): Promise<boolean> {
  return (await Promise.all(ports.map(isFree))).every(Boolean)
}

/** Returns the ports, in their order, on which a program of this machine answers now. */
export async function answeringPorts(ports: readonly number[]): Promise<readonly number[]> {
  const answered = await Promise.all(
    ports.map(async (port) => (await Promise.all(loopback.map((host) => isAnswered(host, port)))).includes(true)),
  )
  return ports.filter((_, index) => answered[index])
}

async function isFree(port: number): Promise<boolean> {
  for (const host of places) if (!(await canListen(host, port))) return false
  for (const host of loopback) if (await isAnswered(host, port)) return false
  return true
}

async function canListen(host: string, port: number): Promise<boolean> {
  const server = createServer()
  const code = await new Promise<string | null>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? 'unknown')
    })
    server.listen({ host, port, exclusive: true, ipv6Only: host.includes(':') }, () => {
      resolve(null)
    })
  })
  if (code !== null) return absent.has(code)
  await new Promise((resolve) => server.close(resolve))
  return true
}

/**
 * Returns whether a connection is accepted. Finds listeners that binding misses, such as a container's forwarding or,
 * off Linux, a server on every address.
 */
async function isAnswered(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1_000 })
  try {
    return await new Promise((resolve) => {
      socket.once('connect', () => {
        resolve(true)
      })
      socket.once('error', () => {
        resolve(false)
      })
      socket.once('timeout', () => {
        resolve(false)
      })
    })
  } finally {
    socket.destroy()
  }
}
