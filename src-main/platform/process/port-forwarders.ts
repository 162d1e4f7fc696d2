import { once } from 'node:events'
import { connect, createServer, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { join } from 'node:path'
import { noteRelay } from './live-trees.ts'
import { quoted } from './process-shell.ts'

/** A port of this machine that a run without the machine's network reaches, by a socket in its own folder. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number
  readonly path: string
}

/** A run whose connections are forwarded. */
export interface ForwardedRun {
  /** Its own folder. */
  readonly folder: string
  /** As which the API takes its connections. */
  readonly processMarker: string
}

/** Where a server of this machine listens: one for `localhost` may have chosen `::1` alone. */
export const thisMachine: readonly string[] = ['127.0.0.1', '::1']

/** Forwards a socket in a run's folder to the first host that answers. Inside the run, the same port leads there. */
export async function forwardPort(run: ForwardedRun, hosts: readonly string[], port: number): Promise<Forwarder> {
  const { folder, processMarker } = run
  const addresses = hosts.map((address) => ({ address, family: isIP(address) }))
  const [host = ''] = hosts
  const target: TcpNetConnectOpts =
    addresses.length === 1
      ? { host, port }
      : { host: 'localhost', port, autoSelectFamily: true, lookup: (_name, _options, found) => found(null, addresses) }
  const path = join(folder, `${port}.sock`)
  const open = new Set<Socket>()
  const server = createServer((inside) => {
    const outside = connect(target)
    // Before anything is written to it.
    outside.once('connect', () => noteRelay(outside, processMarker))
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => open.delete(from))
      from.pipe(to)
    }
  })
  server.listen(path)
  await once(server, 'listening')
  server.unref()
  return {
    port,
    path,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the host and the port of a service's URL. */
export const addressOf = ({ hostname, port, protocol }: URL): readonly [host: string, port: number] => [
  hostname.replace(/^\[|\]$/g, ''),
  Number(port || (protocol === 'https:' ? 443 : 80)),
]

/**
 * Returns a shell script that leads the ports where it runs to their sockets, also for programs without proxy support
 * and those that take `localhost` for `::1`; `listeners` has the processes that do. Where it can't listen, as on ports
 * below 1024 or in the machine's own network, it does without.
 */
export function listeningScript(forwarders: readonly Forwarder[], socat: readonly string[] = ['socat']): string {
  if (forwarders.length === 0) return ''
  const starts = forwarders.map(({ port, path }) => {
    const listen = (address: string): string =>
      `${quoted([...socat, `${address},fork,reuseaddr`, `UNIX-CONNECT:${path}`])} >/dev/null 2>&1 &\n`
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    return `if ! listens ${hex} tcp && ! listens ${hex} tcp6; then
${listen(`TCP6-LISTEN:${port},bind=[::1],ipv6only=1`)}listeners="$listeners $!"
${listen(`TCP4-LISTEN:${port},bind=127.0.0.1`)}listeners="$listeners $!"
started="$started ${hex}:$!"
fi
`
  })
  return `listeners= started=
listens() { while read -r _ at _ state _; do case $at,$state in *:"$1",0A) return 0 ;; esac; done <"/proc/net/$2"; return 1; } 2>/dev/null
${starts.join('')}for one in $started; do
tries=0
while ! listens "\${one%:*}" tcp && [ $tries -lt 200 ] && kill -0 "\${one#*:}" 2>/dev/null; do tries=$((tries + 1)); sleep 0.01; done
done
`
}
