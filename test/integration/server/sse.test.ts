import { connect } from 'node:net'
import { v7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import { lasting } from '../identity/open-identity.ts'
import { openServer } from './open-server.ts'

const at = '2026-11-21T09:30:00.000Z'
const project_id = ProjectId.parse(v7())

const deleted = (seq: number): FeedItem => ({
  kind: 'event',
  event: {
    seq,
    type: 'task.deleted',
    data: { project_id, task_id: TaskId.parse('018f0000-0000-7000-8000-000000000001'), occurred_at: at },
  },
})

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => {
      resolve()
    })
  })

test('sends events with number, type and payload, and comments without number', async () => {
  await using server = await openServer()
  server.api.feed = async function* (after) {
    yield { kind: 'begun', seq: after ?? -1 }
    yield { kind: 'reset', seq: 41 }
    yield deleted(42)
    const task_id = TaskId.parse(v7())
    yield {
      kind: 'activity',
      activity: {
        project_id,
        task_id,
        execution_id: v7() as never,
        text: 'line\nbreak',
        quiet_since: null,
        occurred_at: at,
      },
    }
    yield { kind: 'worktree', change: { project_id, task_id, occurred_at: at } }
  }
  const response = await server.request('/api/v1/events', { headers: { 'last-event-id': '41' } })
  expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
    'no-store',
  ])
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const frames = (await response.text()).split('\n\n').map((frame) => frame.split('\n'))
  expect(frames).toEqual([
    [': open'],
    ['id: 41'],
    ['id: 41', 'event: stream.reset', 'data: {"seq":41}'],
    ['id: 42', 'event: task.deleted', expect.stringContaining(`"project_id":"${project_id}"`)],
    ['event: execution.activity', expect.stringContaining('line\\nbreak')],
    ['event: worktree.changed', expect.stringContaining(`"project_id":"${project_id}"`)],
    [''],
  ])
})

test('starts a transcript after the last known line and ends it with end', async () => {
  await using server = await openServer()
  const execution = server.api.addExecution(server.api.addTask(server.api.addProject('One'), 'todo'), 'command')
  server.api.lines = async function* (from) {
    yield { kind: 'entry', index: from, entry: { type: 'message', at, text: 'hello' } }
    yield { kind: 'end' }
  }
  const path = `/api/v1/executions/${execution.id}/stream`
  const read = async (headers: Record<string, string>) => (await server.request(path, { headers })).text()
  const entry = `event: entry\ndata: {"type":"message","at":"${at}","text":"hello"}\n\nevent: end\ndata: {}\n\n`
  expect(await read({})).toBe(`: open\n\nid: 0\n${entry}`)
  expect(await read({ 'last-event-id': '6' })).toBe(`: open\n\nid: 7\n${entry}`)
})

test('refuses a forbidden stream like any other route', async () => {
  await using server = await openServer()
  const status = async (path: string, init = {}) => (await server.request(path, init)).status
  expect(await status(`/api/v1/executions/${v7()}/stream`)).toBe(404)
  expect(await status('/api/v1/events?project_id=nonsense')).toBe(400)
  expect(await status('/api/v1/events', { headers: { 'last-event-id': 'abc' } })).toBe(400)
  expect(await status('/api/v1/events', { token: null })).toBe(401)
})

test('sends an error as the last event of a source that fails', async () => {
  await using server = await openServer()
  server.api.feed = async function* () {
    yield deleted(1)
    throw new ApiError({ code: 'not_a_member', message: 'You were removed.' })
  }
  const text = await (await server.request('/api/v1/events')).text()
  expect(text).toContain('event: error\ndata: {"error":{"code":"not_a_member"')
})

test('closes the source when the client leaves', async () => {
  await using server = await openServer()
  const closed = Promise.withResolvers<void>()
  server.api.feed = async function* (_after, signal) {
    try {
      yield deleted(1)
      await untilAborted(signal)
    } finally {
      closed.resolve()
    }
  }
  const leaving = new AbortController()
  const response = await server.request('/api/v1/events', { signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await closed.promise
})

test('ends its streams on close', async () => {
  await using server = await openServer()
  server.api.feed = async function* (_after, signal) {
    yield deleted(1)
    await untilAborted(signal)
  }
  const response = await server.request('/api/v1/events')
  const read = response.text()
  await server.close()
  expect(await read).toContain('id: 1\n')
})

test('keeps a stream alive, and ends it when its token is revoked', async () => {
  await using server = await openServer({ sse: { keepAliveMs: 20, stallMs: 5_000 } })
  server.api.feed = async function* (_after, signal) {
    await untilAborted(signal)
  }
  const [user] = server.identity.users.list()
  if (!user) throw new Error('somebody registered')
  const { token, id } = server.identity.tokens.create(user.id, lasting('stream'))
  const reader = (await server.request('/api/v1/events', { token })).body?.getReader()
  let text = ''
  while (!text.includes(': keep-alive')) text += new TextDecoder().decode((await reader?.read())?.value)
  server.identity.tokens.delete(user.id, id)
  for (let end = false; !end;) end = (await reader?.read())?.done ?? true
})

test('sends a comment every 15 seconds on a quiet stream by default', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using server = await openServer()
    const asked = Promise.withResolvers<void>()
    server.api.feed = async function* (_after, signal) {
      asked.resolve()
      await untilAborted(signal)
    }
    const response = await server.request('/api/v1/events')
    await asked.promise
    for (let seconds = 0; seconds < 46; seconds++) vi.advanceTimersByTime(1_000)
    const text = response.text()
    await server.close()
    expect((await text).split('\n\n').filter((frame) => frame === ': keep-alive')).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})

test('drops a client that stops reading, without buffering for it', async () => {
  await using server = await openServer({ sse: { keepAliveMs: 15_000, stallMs: 200 } })
  const ended = Promise.withResolvers<number>()
  server.api.feed = async function* (_after, signal) {
    let sent = 0
    try {
      const text = 'x'.repeat(100_000)
      for (; sent < 10_000 && !signal.aborted; sent++) {
        yield { kind: 'activity', activity: { project_id, text } as never }
      }
    } finally {
      ended.resolve(sent)
    }
  }
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`)
  // The kernel owns the sockets' buffers; the service itself holds one event.
  expect(await ended.promise).toBeLessThan(1_000)
  expect(server.logged.join()).toContain('stopped reading')
  socket.destroy()
})
