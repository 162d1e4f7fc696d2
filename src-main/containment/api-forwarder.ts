import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** The service's API as a socket in a run's own folder: the only way to it for a run without the machine's network. */
export interface ApiForwarder extends AsyncDisposable {
  readonly path: string
}

export async function forwardApi(folder: string, url: URL): Promise<ApiForwarder> {
  const path = join(folder, 'api.sock')
  const open = new Set<Socket>()
  const server = createServer((inside) => {
    const outside = connect({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    })
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
    path,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
