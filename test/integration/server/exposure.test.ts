import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { expect, test, vi } from 'vitest'
import { openServer } from './open-server.ts'

const pem = (name: string) => readFile(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
const patience = {
  requests: 1_000,
  failures: 1_000,
  headersMs: 100,
  requestMs: 200,
  stallMs: 200,
  connections: 100,
}

/** Needed because fetch refuses to send these headers. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

/** Sends raw bytes and resolves with everything received until the server hangs up. */
function raw(url: string, text: string): Promise<string> {
  const { hostname: host, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(text))
    let heard = ''
    socket.on('data', (bytes) => (heard += bytes.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(heard))
  })
}

test('answers on the network to addresses and its own names only', async () => {
  await using server = await openServer({ host: '0.0.0.0', allowedHosts: ['copse.example.com'] })
  const { port } = new URL(server.url)
  const as = (host: string, origin?: string) => statusOf(`${server.url}/healthz`, { host, ...(origin && { origin }) })
  expect([
    await as(`192.168.7.7:${port}`),
    await as(`[fd00::7]:${port}`),
    await as(hostname()),
    await as(`${hostname()}.local:${port}`),
    await as('COPSE.example.com'),
    await as('localhost'),
    await as('evil.example'),
    await as('copse.example.com.evil.example'),
    await as(`127.0.0.1:${port}`, 'https://copse.example.com'),
    await as(`127.0.0.1:${port}`, 'https://evil.example'),
  ]).toEqual([200, 200, 200, 200, 200, 200, 403, 403, 200, 403])
})

test('answers behind a local proxy to the named host', async () => {
  await using server = await openServer({ allowedHosts: ['copse.example.com'] })
  const as = (host: string) => statusOf(`${server.url}/healthz`, { host })
  expect([await as('copse.example.com'), await as('evil.example')]).toEqual([200, 403])
})

test('takes a caller’s address from a trusted proxy only', async () => {
  const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9' } }
  for (const [trustProxy, address] of [
    [[], '127.0.0.1'],
    [['10.0.0.0/8'], '127.0.0.1'],
    [['127.0.0.1'], '203.0.113.9'],
  ] as const) {
    await using server = await openServer({ trustProxy })
    await server.request('/api/v1/projects', forwarded)
    expect(server.api.calls.map(({ context }) => context.remote_address)).toEqual([address])
  }
})

test('blocks an address that tries wrong tokens, and no other', async () => {
  await using server = await openServer({ trustProxy: ['127.0.0.1'], limits: { ...patience, failures: 3 } })
  const ask = async (address: string, token?: string) => {
    const headers = { 'x-forwarded-for': address }
    const response = await server.request('/api/v1/projects', { headers, ...(token && { token }) })
    return [response.status, response.headers.has('retry-after')]
  }
  const answers: unknown[] = []
  for (let count = 0; count < 4; count++) answers.push(await ask('203.0.113.9', `svc_${'x'.repeat(43)}`))
  expect(answers).toEqual([...Array<unknown>(3).fill([401, false]), [429, true]])
  expect([await ask('203.0.113.9'), await ask('203.0.113.10')]).toEqual([
    [429, true],
    [200, false],
  ])
})

test('speaks HTTPS with a certificate, and says so to browsers', async () => {
  const tls = { cert: await pem('cert'), key: await pem('key') }
  await using server = await openServer({ tls })
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const answer = await new Promise<{ status: number | undefined; hsts: string | undefined }>((resolve, reject) => {
    httpsRequest(`${server.url}/healthz`, { ca: tls.cert }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, hsts: response.headers['strict-transport-security'] })
    })
      .on('error', reject)
      .end()
  })
  expect(answer).toEqual({ status: 200, hsts: 'max-age=31536000' })
})

test('returns API answers that are never a page, and never cached', async () => {
  await using server = await openServer()
  const { headers } = await server.request('/api/v1/projects')
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  })
  expect(headers.has('strict-transport-security')).toBe(false)
})

test('does not wait for a head or body that trickles in', async () => {
  await using server = await openServer({ limits: patience })
  const head = `POST /api/v1/auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`
  for (const started of [head, `${head}content-length: 100\r\n\r\n{"email":`]) {
    const answer = await raw(server.url, started)
    expect(answer).toContain('HTTP/1.1 400 Bad Request')
    expect(answer).toContain('"code":"validation_failed","message":"The request took too long to arrive."')
  }
})

const listProjects = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'svc_list_projects', arguments: {} },
})

test.each([
  ['of a route', 'GET /api/v1/projects', '', ''],
  [
    'of an MCP tool',
    'POST /api/v1/mcp',
    'accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n' +
      `mcp-protocol-version: 2025-11-25\r\ncontent-length: ${listProjects.length}\r\n`,
    listProjects,
  ],
])('drops a client that does not take its answer %s', async (_what, route, headers, body) => {
  await using server = await openServer({ limits: patience, sse: { keepAliveMs: 100, stallMs: 200 } })
  const project = { ...server.api.addProject('Long'), workflow_definition: 'x'.repeat(32_000_000) }
  server.api.handle('projects.list', () => ({ items: [project] }))
  const { hostname: host, port } = new URL(server.url)
  const authorization = `authorization: Bearer ${server.token}\r\n`
  const head = `${route} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}${headers}\r\n${body}`
  const socket = connect(Number(port), host, () => socket.write(head))
  socket.pause()
  await vi.waitFor(() => expect(server.logged.join()).toContain('took nothing of its answer'), 10_000)
  let taken = 0
  socket.on('data', (bytes) => (taken += bytes.length))
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('close', resolve).resume())
  expect(taken).toBeLessThan(32_000_000)
})

const packed =
  'POST /api/v1/auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n' +
  'transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'

test('recognizes an API path in any spelling, and a cut-off request as no bug', async () => {
  await using server = await openServer()
  const { headers } = await server.request('/%61pi/v1/projects')
  expect(headers.get('cache-control')).toBe('no-store')
  const { hostname: host, port } = new URL(server.url)
  const begun = `POST /api/v1/auth/login HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`
  const socket = connect(Number(port), host, () => socket.write(begun, () => socket.destroy()))
  await once(socket, 'close')
  await server.close()
  expect(server.logged.join()).not.toContain('request failed')
})

test.each([
  ['a head that is too long', `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 413],
  ['no HTTP at all', '\u0016\u0003\u0001\u0002\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
  ['a length and chunks', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400],
  ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
  ['a line end inside a header', 'GET / HTTP/1.1\r\nhost: x\r\nx: a\u0000b\r\n\r\n', 400],
  ['a packed body', packed, 415],
  [
    'the address of another host',
    'GET http://evil.test/api/v1/projects HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n',
    400,
  ],
  ['two hosts', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nHost: evil.test\r\nconnection: close\r\n\r\n', 400],
  ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
])('answers %s clearly', async (_what, text, status) => {
  await using server = await openServer()
  const answer = await raw(server.url, text)
  expect(Number(answer.split(' ')[1])).toBe(status)
  expect(answer).not.toMatch(/\n\s+at /)
})
