import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { bridgeMcp } from '../../../src-main/cli/mcp-bridge.ts'
import { createMcpEndpoint } from '../../../src-main/cli/mcp-endpoint.ts'

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void

/**
 * Creates a bridge to an endpoint with the given answers. `say` sends a client's line, `heard` has the output so far.
 */
async function openBridge(answer: Answer) {
  const server = createServer((request, response) => void text(request).then((body) => answer(request, body, response)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const lines = new PassThrough({ objectMode: true })
  const heard: string[] = []
  const complaints: string[] = []
  let wake = () => undefined as void
  const send = (message: string) => {
    heard.push(message)
    wake()
    return Promise.resolve()
  }
  const done = bridgeMcp({
    endpoint: createMcpEndpoint({ url: `http://127.0.0.1:${port}/mcp`, token: 'svc_test', send }),
    lines,
    send,
    explain: (error) => (error instanceof Error ? error.message : String(error)),
    complain: (complaint) => void complaints.push(complaint),
  })
  return {
    say: (message: object) => void lines.write(JSON.stringify({ jsonrpc: '2.0', ...message })),
    hears: async (count: number) => {
      while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve))
      return heard.map((message) => JSON.parse(message) as unknown)
    },
    end: () => {
      lines.end()
      return done
    },
    complaints,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

const asStream = { 'content-type': 'text/event-stream' }
const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

test('passes on notifications before their answer, and those of the session on their own', async () => {
  await using bridge = await openBridge((request, body, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, asStream).write(event({ method: 'notifications/tools/list_changed' }))
    } else if (body.includes('initialized')) response.writeHead(202).end()
    else {
      response.writeHead(200, asStream).write(event({ method: 'notifications/progress', params: { progress: 1 } }))
      response.end(event({ id: 7, result: {} }))
    }
  })
  bridge.say({ id: 7, method: 'tools/call', params: { name: 'slow' } })
  expect(await bridge.hears(2)).toMatchObject([{ method: 'notifications/progress' }, { id: 7 }])
  bridge.say({ method: 'notifications/initialized' })
  expect((await bridge.hears(3))[2]).toMatchObject({ method: 'notifications/tools/list_changed' })
  await bridge.end()
  expect(bridge.complaints).toEqual([])
})

test('sends nothing before the handshake, and its result with all that follows', async () => {
  const seen: unknown[] = []
  await using bridge = await openBridge((request, body, response) => {
    const { id, method } = JSON.parse(body) as { id: number; method: string }
    const { authorization, 'mcp-protocol-version': version, 'mcp-session-id': session } = request.headers
    seen.push({ method, authorization, version, session })
    const result = method === 'initialize' ? { protocolVersion: '2025-11-25' } : {}
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result })
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 's1' }
    setImmediate(() => response.writeHead(200, headers).end(answer))
  })
  bridge.say({ id: 1, method: 'initialize', params: {} })
  bridge.say({ id: 2, method: 'tools/list' })
  await bridge.end()
  const authorization = 'Bearer svc_test'
  expect(seen).toEqual([
    { method: 'initialize', authorization },
    { method: 'tools/list', authorization, version: '2025-11-25', session: 's1' },
  ])
})

test('hangs up on a cancelled request without an answer, also in the newer protocol', async () => {
  const methods: string[] = []
  const hungUp = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await using bridge = await openBridge((_request, body, response) => {
    methods.push((JSON.parse(body) as { method: string }).method)
    response.on('close', () => hungUp.resolve())
    arrived.resolve()
  })
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  bridge.say({ id: 'a', method: 'tools/call', params: { name: 'endless', _meta } })
  await arrived.promise
  bridge.say({ method: 'notifications/cancelled', params: { requestId: 'a' } })
  await hungUp.promise
  await bridge.end()
  expect(methods).toEqual(['tools/call'])
  expect(await bridge.hears(0)).toEqual([])
})

test('repeats the message in the headers of the newer protocol, in Base64 where needed', async () => {
  const names: unknown[] = []
  await using bridge = await openBridge((request, body, response) => {
    names.push([request.headers['mcp-method'], request.headers['mcp-name'], request.headers['mcp-protocol-version']])
    const { id } = JSON.parse(body) as { id: number }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  bridge.say({ id: 1, method: 'resources/read', params: { uri: 'svc://Ü', _meta } })
  bridge.say({ id: 2, method: 'tools/list', params: { _meta } })
  await bridge.end()
  expect(names).toEqual([
    ['resources/read', `=?base64?${Buffer.from('svc://Ü').toString('base64')}?=`, '2026-07-28'],
    ['tools/list', undefined, '2026-07-28'],
  ])
})

test('answers refusals and a missing service, and passes protocol errors on', async () => {
  const unauthorized = { error: { code: 'invalid_token', message: 'This token does not work.' } }
  await using bridge = await openBridge((_request, body, response) => {
    const { id } = JSON.parse(body) as { id: number }
    if (id === 3) return response.socket?.destroy()
    const answer = id === 1 ? unauthorized : { jsonrpc: '2.0', id, error: { code: -32_602, message: 'Unknown.' } }
    return response.writeHead(id === 1 ? 401 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  for (const id of [1, 2, 3]) {
    bridge.say({ id, method: 'tools/list' })
    await bridge.hears(id)
  }
  await bridge.end()
  expect(await bridge.hears(3)).toMatchObject([
    { id: 1, error: { code: -32_000, message: 'This token does not work.' } },
    { id: 2, error: { code: -32_602, message: 'Unknown.' } },
    { id: 3, error: { code: -32_000, message: expect.stringContaining('reached') as string } },
  ])
})
