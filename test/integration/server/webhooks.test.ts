import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openServer } from './open-server.ts'

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Needed because fetch refuses to send another host, and normalizes the path. */
function send(url: string, { method = 'POST', path = '/hooks/one', headers = {}, body = '' }: Sent = {}) {
  const { hostname, port } = new URL(url)
  return new Promise<number | undefined>((resolve, reject) => {
    request({ hostname, port, method, path, headers: { 'content-length': Buffer.byteLength(body), ...headers } })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(body)
  })
}
const tunnel = { host: 'copse.tunnel.example' }

test('takes a webhook without a sign-in, as the bytes that came', async () => {
  await using server = await openServer()
  const body = Buffer.from([0xff, 0x00, 0x7b, 0x0d, 0x0a])
  const answers = [
    await send(server.url, { body, headers: { 'content-type': 'application/json' } }),
    await send(server.url, { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    await send(server.url, { body }),
    await send(server.url),
  ]
  expect(answers).toEqual([202, 202, 202, 202])
  const bytes = body.toString('latin1')
  expect(server.api.webhooks.map((one) => one.body)).toEqual([bytes, bytes, bytes, ''])
  expect(server.api.webhooks.map((one) => one.integration_id)).toEqual(Array(4).fill('one'))
  const answer = await fetch(`${server.url}/hooks/one`, { method: 'POST' })
  expect([answer.status, await answer.text()]).toEqual([202, ''])
})

test('answers a tunnel’s name there, and nowhere else', async () => {
  await using server = await openServer()
  expect(await send(server.url, { headers: tunnel })).toBe(202)
  // What the router reads as this route is this route.
  expect(await send(server.url, { path: '/%68ooks/one', headers: tunnel })).toBe(202)
  const others: readonly Sent[] = [
    { path: '/healthz', method: 'GET' },
    { path: '/openapi.json', method: 'GET' },
    { path: '/api/v1/projects', method: 'GET' },
    { path: '/api/v1/auth/login' },
    { path: '/api/v1/mcp' },
    { path: '/hooks' },
    { path: '/hooks/one/more' },
    { path: '/hooks/one/../../api/v1/projects' },
    { path: '/hooks/..%2f..%2fapi/v1/projects' },
    { path: '/HOOKS/one' },
    { path: '//hooks/one' },
    { path: '/hooks/one', method: 'GET' },
    { path: '/hooks/one', method: 'HEAD' },
    { path: '/hooks/one', method: 'OPTIONS' },
    { path: '/hooks/one', method: 'PUT' },
  ]
  const answers = await Promise.all(others.map((one) => send(server.url, { ...one, headers: tunnel })))
  expect(answers).toEqual(others.map(() => 403))
  expect(server.api.webhooks).toHaveLength(2)
  expect(server.api.calls).toEqual([])
})

test('is closed to every browser, also to the page itself', async () => {
  await using server = await openServer()
  const as = (headers: Record<string, string>) => send(server.url, { headers })
  expect([
    await as({ origin: 'https://evil.example' }),
    // A name that a hostile page points here: the same host and origin.
    await as({ host: 'evil.example', origin: 'http://evil.example' }),
    await as({ origin: server.url }),
    await as({ origin: 'null' }),
    await as({ 'sec-fetch-site': 'cross-site' }),
    await as({ ...tunnel, 'sec-fetch-site': 'none' }),
  ]).toEqual([403, 403, 403, 403, 403, 403])
  expect(server.api.webhooks).toEqual([])
})

test('refuses a body over 1 MB before it is read, and a request with two hosts', async () => {
  await using server = await openServer()
  const { port } = new URL(server.url)
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let heard = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
      socket.on('data', (bytes) => (heard += bytes.toString()))
      socket.on('error', reject)
      socket.on('close', () => resolve(heard))
    })
  const head = 'POST /hooks/one HTTP/1.1\r\nhost: copse.tunnel.example\r\nconnection: close\r\n'
  const large = await raw(`${head}content-length: ${1024 * 1024 + 1}\r\n\r\n`)
  expect(large).toContain('HTTP/1.1 413')
  expect(large).toContain('over the limit of 1 MB')
  expect(await raw(`${head}Host: 127.0.0.1\r\ncontent-length: 0\r\n\r\n`)).toContain('HTTP/1.1 400')
  expect(await send(server.url, { body: Buffer.alloc(1024 * 1024) })).toBe(202)
})

test('lets no other route take such a body', async () => {
  await using server = await openServer()
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${server.token}` }
  expect(await send(server.url, { path: '/api/v1/projects', headers: form, body: 'name=x' })).toBe(415)
})

test('blocks an address that signs wrongly again and again', async () => {
  const limits = { requests: 1_000, failures: 3, headersMs: 1_000, requestMs: 1_000, stallMs: 1_000, connections: 100 }
  await using server = await openServer({ trustProxy: ['127.0.0.1'], limits })
  server.api.signed = () => false
  const from = (address: string) => send(server.url, { headers: { ...tunnel, 'x-forwarded-for': address } })
  const answers: unknown[] = []
  for (let count = 0; count < 4; count++) answers.push(await from('203.0.113.9'))
  expect(answers).toEqual([401, 401, 401, 429])
  expect(await from('203.0.113.10')).toBe(401)
})
