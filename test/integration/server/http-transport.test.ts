import { createServer as createPlainServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { createClient } from '../../../src-shared/client/create-client.ts'
import { ConnectionError, createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { openServer } from './open-server.ts'
import type { OpenServer } from './open-server.ts'

const at = '2026-11-21T09:30:00.000Z'
const idle = new AbortController().signal

const clientOf = (server: OpenServer, options: { silenceMs?: number } = {}) =>
  createClient(createHttpTransport({ baseUrl: server.url, getToken: () => server.token, ...options }))

test('sends path, query and body, and returns typed answers', async () => {
  await using server = await openServer()
  const client = clientOf(server)
  const project = server.api.addProject('One')
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Do it & more' })
  expect(task.title).toBe('Do it & more')
  const page = await client.call('tasks.list', { project_id: project.id, q: 'a&b=ü', include_archived: true, limit: 3 })
  expect(page.items).toEqual([task])
  expect(server.api.calls.at(-1)?.input).toMatchObject({ q: 'a&b=ü', include_archived: true, limit: 3 })
  expect(await client.call('tasks.delete', { task_id: task.id })).toBeNull()
})

test('throws a refusal as the ApiError of the service', async () => {
  await using server = await openServer()
  const call = clientOf(server).call('tasks.get', { task_id: v7() })
  await expect(call).rejects.toMatchObject({ name: 'ApiError', code: 'not_found', details: { resource: 'task' } })
})

test('returns bytes as a slice', async () => {
  await using server = await openServer()
  const slice = { data_base64: Buffer.alloc(20_000, 200).toString('base64'), next_offset: 20_000, complete: false }
  server.api.handle('tasks.read_log', () => slice)
  expect(await clientOf(server).call('tasks.read_log', { task_id: v7(), name: 'a b.jsonl' })).toEqual(slice)
  expect(server.api.calls.at(-1)?.input).toMatchObject({ name: 'a b.jsonl' })
})

test('streams events from where a client left', async () => {
  await using server = await openServer()
  const project_id = ProjectId.parse(v7())
  const task_id = TaskId.parse(v7())
  const items: FeedItem[] = [
    { kind: 'begun', seq: 8 },
    { kind: 'reset', seq: 9 },
    { kind: 'event', event: { seq: 10, type: 'task.deleted', data: { project_id, task_id, occurred_at: at } } },
    {
      kind: 'activity',
      activity: { project_id, task_id, execution_id: v7() as never, text: 'reads', quiet_since: null, occurred_at: at },
    },
    { kind: 'worktree', change: { project_id, task_id, occurred_at: at } },
  ]
  let asked: number | null = null
  server.api.feed = async function* (after) {
    asked = after
    yield* items
    yield { kind: 'event', event: { seq: 11, type: 'moon.risen' as never, data: {} as never } }
  }
  expect(await Array.fromAsync(clientOf(server).events({}, 8, idle))).toEqual(items)
  expect(asked).toBe(8)
})

test('streams a transcript’s entries to its end', async () => {
  await using server = await openServer()
  const { id } = server.api.addExecution(server.api.addTask(server.api.addProject('One'), 'todo'), 'command')
  server.api.lines = async function* (from) {
    yield { kind: 'entry', index: from, entry: { type: 'message', at, text: 'hello' } }
    yield { kind: 'end' }
  }
  expect(await Array.fromAsync(clientOf(server).transcript({ execution_id: id }, 3, idle))).toEqual([
    { kind: 'entry', index: 4, entry: { type: 'message', at, text: 'hello' } },
    { kind: 'end' },
  ])
})

test('ends a stream quietly when its reader stops', async () => {
  await using server = await openServer()
  server.api.feed = async function* (_after, signal) {
    yield { kind: 'reset', seq: 1 }
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const enough = new AbortController()
  const seen: FeedItem[] = []
  for await (const item of clientOf(server).events({}, null, enough.signal)) {
    seen.push(item)
    enough.abort()
  }
  expect(seen).toEqual([{ kind: 'reset', seq: 1 }])
})

test('treats a silent stream as a lost connection', async () => {
  await using server = await openServer()
  server.api.feed = async function* (_after, signal) {
    yield { kind: 'reset', seq: 1 }
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const reading = Array.fromAsync(clientOf(server, { silenceMs: 50 }).events({}, null, idle))
  await expect(reading).rejects.toBeInstanceOf(ConnectionError)
})

test('reports a missing service, and a foreign answer, as connection errors', async () => {
  const server = await openServer()
  const client = clientOf(server)
  await server[Symbol.asyncDispose]()
  await expect(client.call('projects.list', {})).rejects.toBeInstanceOf(ConnectionError)
  const stranger = createPlainServer((request, response) => {
    response.statusCode = request.method === 'GET' ? 502 : 200
    response.end('<html>')
  })
  await once(stranger.listen(0, '127.0.0.1'), 'listening')
  const { port } = stranger.address() as AddressInfo
  const lost = createClient(createHttpTransport({ baseUrl: `http://127.0.0.1:${port}/`, getToken: () => null }))
  await expect(lost.call('projects.list', {})).rejects.toMatchObject({ code: 'connection_failed' })
  await expect(lost.call('tasks.cancel', { task_id: v7() })).rejects.toMatchObject({ code: 'connection_failed' })
  await new Promise((resolve) => stranger.close(resolve))
})
