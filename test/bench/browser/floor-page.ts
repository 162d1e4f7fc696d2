import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { build, type Plugin } from 'vite'

/** A page of the product's framework, made by its build, and served by a plain server. */
export interface FloorPage extends AsyncDisposable {
  readonly url: string
}

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

export async function serveFloor(name: 'empty' | 'plain-rows'): Promise<FloorPage> {
  const outDir = await mkdtemp(join(tmpdir(), 'copse-bench-floor-'))
  const root = join(import.meta.dirname, 'floor')
  const page: Plugin = {
    name: 'page',
    transformIndexHtml: { order: 'pre', handler: (html) => html.replace('%PAGE%', name) },
  }
  await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'error',
    plugins: [page],
    build: { outDir, emptyOutDir: true },
  })
  const files = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    const send = async () => {
      const body = files.get(path) ?? (await readFile(join(outDir, path)))
      files.set(path, body)
      response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(body)
    }
    send().catch(() => response.writeHead(404).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await rm(outDir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
