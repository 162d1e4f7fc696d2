import { request } from 'node:http'
import { connect } from 'node:net'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer } from './open-server.ts'

let webRoot = ''

beforeAll(async () => {
  webRoot = await mkdtemp(join(tmpdir(), 'copse-web-'))
  await mkdir(join(webRoot, 'assets'))
  await writeFile(join(webRoot, 'index.html'), '<!doctype html><title>Copse</title>')
  await writeFile(join(webRoot, 'assets', 'index-abc.js'), 'export {}')
})

afterAll(() => rm(webRoot, { recursive: true }))

/** Needed because fetch refuses to send these headers. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

/** Needed because fetch and `request(url)` would normalize the path. */
function statusOfPath(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
}

test('answers health and the description without a token', async () => {
  await using server = await openServer()
  const health = await server.request('/healthz', { token: null })
  expect(await health.json()).toEqual({ status: 'ok', version: '1.2.3' })
  const description = await server.request('/openapi.json', { token: null })
  expect(await description.json()).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
})

test('accepts only loopback names on loopback', async () => {
  await using server = await openServer()
  const { port } = new URL(server.url)
  const asHost = (host: string) => statusOf(`${server.url}/healthz`, { host })
  const hosts = ['localhost', `localhost:${port}`, '127.0.0.1:1', `[::1]:${port}`, 'evil.example', '10.0.0.1:4870']
  expect(await Promise.all(hosts.map(asHost))).toEqual([200, 200, 200, 200, 403, 403])
})

test('refuses another page’s origin, but not its own', async () => {
  await using server = await openServer()
  const from = (origin: string) => statusOf(`${server.url}/healthz`, { origin })
  const { port } = new URL(server.url)
  const foreign = ['https://evil.example', 'null', 'http://127.0.0.1:1', `http://localhost:${port}`]
  expect(await Promise.all([server.url, ...foreign].map(from))).toEqual([200, 403, 403, 403, 403])
})

/** What browsers send with a request that another page starts. */
const foreignFetch = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
const foreignLink = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

test('refuses what a browser says comes from another page, even without an origin', async () => {
  await using server = await openServer({ webRoot })
  const as = (path: string, headers: Record<string, string>) => statusOf(server.url + path, headers)
  const own = { ...foreignFetch, 'sec-fetch-site': 'same-origin' }
  const typed = { ...foreignLink, 'sec-fetch-site': 'none' }
  expect([await as('/healthz', own), await as('/healthz', typed), await as('/healthz', {})]).toEqual([200, 200, 200])
  expect([
    await as('/healthz', foreignFetch),
    await as('/', foreignFetch),
    await as('/assets/index-abc.js', foreignFetch),
    await as('/healthz', { ...foreignFetch, 'sec-fetch-site': 'same-site' }),
    await as('/healthz', { ...foreignFetch, 'sec-fetch-site': 'cross-site, same-origin' }),
  ]).toEqual([403, 403, 403, 403, 403])
})

test('lets a link of another page open the page only, and not in a frame', async () => {
  await using server = await openServer({ webRoot })
  const as = (path: string, headers: Record<string, string>) => statusOf(server.url + path, headers)
  const opened = ['/', '/tasks/1?tab=changes'].map((path) => as(path, foreignLink))
  const fromPort = as('/', { ...foreignLink, 'sec-fetch-site': 'same-site' })
  expect(await Promise.all([...opened, fromPort])).toEqual([200, 200, 200])
  const others = ['/healthz', '/openapi.json', '/assets/index-abc.js', '/api/v1/system', '/%61pi/v1/system']
  expect(await Promise.all(others.map((path) => as(path, foreignLink)))).toEqual(others.map(() => 403))
  expect(await as('/', { ...foreignLink, 'sec-fetch-dest': 'iframe' })).toBe(403)
  expect((await server.request('/', { method: 'POST', headers: foreignLink })).status).toBe(403)
})

test('lets no other origin read an answer', async () => {
  await using server = await openServer()
  const preflight = await server.request('/api/v1/projects', { method: 'OPTIONS' })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([404, null])
})

test('serves the page with a strict policy, and caches its hashed files', async () => {
  await using server = await openServer({ webRoot })
  const page = await server.request('/', { token: null })
  expect(await page.text()).toContain('Copse')
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'; "),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  })
  const script = await server.request('/assets/index-abc.js', { token: null })
  expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
})

test('serves the page for its own paths, and 404 for missing or outside files', async () => {
  await using server = await openServer({ webRoot })
  const status = async (path: string) => (await server.request(path, { token: null })).status
  expect(await Promise.all(['/projects/7', '/assets/gone.js', '/..%2f..%2fetc%2fhosts.txt'].map(status))).toEqual([
    200, 404, 404,
  ])
  for (const path of [
    '/../../etc/passwd',
    '//etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    `/${'a'.repeat(5_000)}`,
    '/%00',
  ])
    expect([path, await statusOfPath(server.url, path)]).toEqual([path, 404])
  expect((await server.request('/nothing', { method: 'POST', token: null })).status).toBe(404)
})

test('waits on close for the current request, and may be closed twice', async () => {
  await using server = await openServer()
  const reached = Promise.withResolvers<() => void>()
  server.api.handle('projects.list', async () => {
    const gate = Promise.withResolvers<void>()
    reached.resolve(gate.resolve)
    await gate.promise
    return { items: [] }
  })
  const asked = server.request('/api/v1/projects')
  const go = await reached.promise
  const closed = server.close()
  go()
  expect((await asked).status).toBe(200)
  await closed
  await server.close()
  await expect(server.request('/healthz')).rejects.toThrow()
})

test('ends on close what does not end by itself', async () => {
  await using server = await openServer({ drainMs: 50 })
  const reached = Promise.withResolvers<void>()
  server.api.handle('projects.list', async (_input, { signal }) => {
    reached.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { items: [] }
  })
  const asked = server.request('/api/v1/projects').catch(() => 'hung up')
  await reached.promise
  await server.close()
  expect(await asked).toBe('hung up')
})

test('does not wait on close for a connection without a request', async () => {
  await using server = await openServer({ drainMs: 60_000 })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await new Promise((resolve) => socket.once('connect', resolve))
  // The server has accepted the connection once it answers another one.
  await server.request('/healthz')
  await server.close()
  await ended
})
