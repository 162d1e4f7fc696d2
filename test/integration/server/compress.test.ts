import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openServer, type OpenServer } from './open-server.ts'

async function ask(server: OpenServer, path: string, accepted: string) {
  const response = await server.request(path, { headers: { 'accept-encoding': accepted } })
  const { headers } = response
  return {
    encoding: headers.get('content-encoding'),
    vary: headers.get('vary'),
    bytes: Number(headers.get('content-length')),
    text: await response.text(),
  }
}

test('an answer of some length is compressed as the client asks, Brotli before gzip', async () => {
  await using server = await openServer()
  const project = server.api.addProject('One')
  for (let number = 0; number < 50; number++) server.api.addTask(project, 'backlog')
  const path = `/api/v1/projects/${project.id}/tasks`
  const plain = await ask(server, path, 'identity')
  expect(plain).toMatchObject({ encoding: null, vary: 'accept-encoding' })
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0, GZIP', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['deflate', null],
  ] as const) {
    const answer = await ask(server, path, accepted)
    expect(answer, accepted).toMatchObject({ encoding, vary: 'accept-encoding', text: plain.text })
    if (encoding !== null) expect(answer.bytes).toBeLessThan(plain.bytes / 5)
  }
})

test('a short answer goes as it is', async () => {
  await using server = await openServer()
  expect(await ask(server, '/healthz', 'br, gzip')).toMatchObject({ encoding: null, vary: null })
})

test('an event stream goes as it is, event by event', async () => {
  await using server = await openServer()
  const controller = new AbortController()
  server.api.feed = async function* (_after, signal) {
    yield { kind: 'reset', seq: 7 }
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
  }
  const { headers, body } = await server.request('/api/v1/events', {
    headers: { 'accept-encoding': 'br, gzip' },
    signal: controller.signal,
  })
  expect(headers.get('content-encoding')).toBeNull()
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('stream.reset')) text += (await reader?.read())?.value ?? ''
  controller.abort()
})

test('a file of the page goes as the build has compressed it', async () => {
  const webRoot = await mkdtemp(join(tmpdir(), 'copse-web-'))
  const page = '<!doctype html><title>Copse</title>'
  await writeFile(join(webRoot, 'index.html'), page)
  await writeFile(join(webRoot, 'index.html.br'), brotliCompressSync(page))
  {
    await using server = await openServer({ webRoot })
    const etags = new Set<string | null>()
    for (const path of ['/', '/index.html', '/p/1']) {
      expect(await ask(server, path, 'br, gzip')).toMatchObject({ encoding: 'br', vary: 'accept-encoding', text: page })
      expect(await ask(server, path, 'gzip')).toMatchObject({ encoding: null, vary: 'accept-encoding', text: page })
    }
    for (const accepted of ['br', 'identity']) {
      etags.add((await server.request('/', { headers: { 'accept-encoding': accepted } })).headers.get('etag'))
    }
    expect(etags.size).toBe(2)
  }
  await rm(webRoot, { recursive: true })
})
