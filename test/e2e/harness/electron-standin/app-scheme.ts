import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { record } from './protocol-to-parent.ts'

type SchemeHandler = (request: Request) => Promise<Response> | Response

let scheme = ''
let served: Promise<string> | null = null

/** Chromium does not know the app's scheme, so its pages are served over loopback by the app's own handler. */
export const protocol = {
  registerSchemesAsPrivileged: (schemes: unknown) =>
    record('protocol.registerSchemesAsPrivileged', [schemes], undefined),
  handle: (name: string, handler: SchemeHandler) => {
    scheme = name
    served = serve(handler)
  },
}

/** `copse://app/x` → Chromium's address. */
export async function toPage(address: string): Promise<string> {
  const url = new URL(address)
  if (served === null || url.protocol !== `${scheme}:`) return address
  return address.replace(`${scheme}://${url.host}`, await served)
}

/** Chromium's address → the app's. */
export async function toApp(address: string): Promise<string> {
  if (served === null) return address
  const origin = await served
  return address.startsWith(origin) ? address.replace(origin, `${scheme}://app`) : address
}

async function serve(handler: SchemeHandler): Promise<string> {
  const server = createServer((request, response) => {
    void answer(handler, request, response)
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(handler: SchemeHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = request
  const answered = await handler(new Request(`${scheme}://app${url}`, { method }))
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  response.end(new Uint8Array(await answered.arrayBuffer()))
}
