import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { operations } from '../../../src-shared/contract/operations.ts'
import { openServer } from './open-server.ts'

const json = (value: unknown) => ({ method: 'POST', body: JSON.stringify(value) })

async function answer(response: Response) {
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
}

async function refusal(response: Response) {
  const { status, body } = await answer(response)
  const { code, details } = (body as { error: { code: string; details?: unknown } }).error
  return details === undefined ? [status, code] : [status, code, details]
}

test('merges path, query and body to one flat input, the path first', async () => {
  await using server = await openServer()
  const project = server.api.addProject('One')
  const path = `/api/v1/projects/${project.id}/tasks`
  const created = await answer(await server.request(path, json({ title: 'Do it', project_id: v7() })))
  expect(created).toEqual({ status: 201, body: server.api.tasks[0] })
  expect(server.api.tasks[0]).toMatchObject({ project_id: project.id, title: 'Do it' })
  await server.request(`${path}?include_archived=true&limit=7&q=12&status=backlog`)
  expect(server.api.calls.at(-1)?.input).toEqual({
    project_id: project.id,
    include_archived: true,
    limit: 7,
    q: '12',
    status: 'backlog',
  })
})

test('refuses an invalid query by name', async () => {
  await using server = await openServer()
  const project = server.api.addProject('One')
  const query = async (text: string) => refusal(await server.request(`/api/v1/projects/${project.id}/tasks?${text}`))
  const at = (path: string) => [400, 'validation_failed', { issues: [expect.objectContaining({ path })] }]
  expect(await query('limit=many')).toEqual(at('limit'))
  expect(await query('limit=')).toEqual(at('limit'))
  expect(await query('limit=1&limit=2')).toEqual(at('limit'))
  expect(await query('include_archived=yes')).toEqual(at('include_archived'))
})

test('answers 204 without a body for an operation without output', async () => {
  await using server = await openServer()
  const task = server.api.addTask(server.api.addProject('One'), 'todo')
  const cancelled = await server.request(`/api/v1/tasks/${task.id}/cancel`, { method: 'POST' })
  expect(cancelled.status).toBe(200)
  const empty = await server.request(`/api/v1/tasks/${task.id}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  })
  expect(empty.status).toBe(200)
  const deleted = await server.request(`/api/v1/tasks/${task.id}`, { method: 'DELETE' })
  expect([deleted.status, await deleted.text()]).toEqual([204, ''])
})

test('returns a slice of a log as bytes, with the next offset', async () => {
  await using server = await openServer()
  const bytes = new Uint8Array([0, 255, 10, 128])
  server.api.handle('tasks.read_log', ({ name, offset }) => ({
    data_base64: Buffer.from(bytes).toString('base64'),
    next_offset: offset + name.length,
    complete: true,
  }))
  const name = `${'hook-before_work-0-'.repeat(9)}.jsonl`
  const response = await server.request(`/api/v1/tasks/${v7()}/logs/${name}?offset=40`)
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
  expect([response.headers.get('x-next-offset'), response.headers.get('x-complete')]).toEqual([
    String(40 + name.length),
    'true',
  ])
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
})

test('asks for a token on every route but public ones, before anything else', async () => {
  await using server = await openServer()
  for (const [name, spec] of Object.entries(operations)) {
    const path = spec.path.replace(/\{\w+\}/g, 'x')
    const hasBody = spec.method !== 'GET' && spec.method !== 'DELETE'
    const response = await server.request(`/api/v1${path}`, {
      method: spec.method,
      token: null,
      ...(hasBody && { body: '{broken', headers: { 'content-type': 'text/plain' } }),
    })
    if (spec.who === 'public' && !hasBody) {
      expect(response.status, name).not.toBe(401)
      continue
    }
    const code = (await refusal(response))[1]
    expect(code, name).toBe(spec.who === 'public' ? 'unsupported_media_type' : 'missing_token')
    expect(response.headers.get('www-authenticate'), name).toBe(spec.who === 'public' ? null : 'Bearer')
  }
})

test('refuses an unknown, expired or malformed token with a challenge', async () => {
  await using server = await openServer()
  const login = { email: 'owner@example.com', password: 'correct horse' }
  const signedIn = await answer(await server.request('/api/v1/auth/login', { ...json(login), token: null }))
  const { access_token } = signedIn.body as { access_token: string }
  expect((await server.request('/api/v1/projects', { token: access_token })).status).toBe(200)
  server.time.now += 900_000
  const ask = async (headers: Record<string, string>) => {
    const response = await server.request('/api/v1/projects', { token: null, headers })
    return [...(await refusal(response)), response.headers.get('www-authenticate')]
  }
  expect(await ask({ authorization: `Bearer ${access_token}` })).toEqual([401, 'token_expired', 'Bearer'])
  expect(await ask({ authorization: 'Bearer nonsense' })).toEqual([401, 'invalid_token', 'Bearer'])
  expect(await ask({ authorization: 'Basic YTpi' })).toEqual([401, 'missing_token', 'Bearer'])
  const inQuery = await server.request(`/api/v1/projects?token=${server.token}`, { token: null })
  expect(await refusal(inQuery)).toEqual([401, 'missing_token'])
})

test('has codes for a broken, mistyped, non-object or too large body', async () => {
  await using server = await openServer()
  const path = `/api/v1/projects/${server.api.addProject('One').id}/tasks`
  const post = async (body: string, type = 'application/json', more: Record<string, string> = {}) => {
    const headers = { 'content-type': type, ...more }
    return (await refusal(await server.request(path, { method: 'POST', body, headers }))).slice(0, 2)
  }
  expect(await post('{"title":')).toEqual([400, 'invalid_json'])
  expect(await post('{"title":"x","__proto__":{"isAdmin":true}}')).toEqual([400, 'invalid_json'])
  expect(await post('title=x', 'application/x-www-form-urlencoded')).toEqual([415, 'unsupported_media_type'])
  expect(await post('{"title":"x"}', undefined, { 'content-encoding': 'gzip' })).toEqual([
    415,
    'unsupported_media_type',
  ])
  expect(await post('["title"]')).toEqual([400, 'validation_failed'])
  expect(await post('{}')).toEqual([400, 'validation_failed'])
  expect(await post(JSON.stringify({ title: 'x'.repeat(5 * 1024 * 1024) }))).toEqual([413, 'payload_too_large'])
  expect(server.api.tasks).toEqual([])
})

test('answers 404 for an unknown route only with a token', async () => {
  await using server = await openServer()
  const notFound = [404, 'not_found', { resource: 'route' }]
  expect(await refusal(await server.request('/api/v1/nothing'))).toEqual(notFound)
  expect(await refusal(await server.request('/api/v1/projects', { method: 'PUT' }))).toEqual(notFound)
  expect(await refusal(await server.request('/nothing', { token: null }))).toEqual(notFound)
  expect(await refusal(await server.request('/api/v1/tasks/%zz'))).toEqual(notFound)
  expect(await refusal(await server.request('/api/v1/admin/nothing', { token: null }))).toEqual([401, 'missing_token'])
})

test('hides the text of a bug, and logs it', async () => {
  await using server = await openServer()
  server.api.handle('projects.list', () => {
    throw new Error('secret detail')
  })
  const response = await server.request('/api/v1/projects')
  const text = await response.text()
  expect([response.status, text.includes('internal_error'), text.includes('secret')]).toEqual([500, true, false])
  expect(server.logged.join()).toContain('secret detail')
})

test('says when to retry after a limited sign-in', async () => {
  await using server = await openServer()
  const login = () =>
    server.request('/api/v1/auth/login', { ...json({ email: 'owner@example.com', password: 'no' }), token: null })
  for (let attempt = 0; attempt < 10; attempt++) expect((await login()).status).toBe(401)
  const limited = await login()
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1'])
})

test('accepts a one-time code from this machine, not through a proxy', async () => {
  await using server = await openServer()
  const code = server.identity.createLocalCode()
  const forwarded = await server.request('/api/v1/auth/local', {
    ...json({ code }),
    token: null,
    headers: { 'x-forwarded-for': '203.0.113.9' },
  })
  expect(await refusal(forwarded)).toEqual([401, 'invalid_credentials'])
  const direct = await answer(await server.request('/api/v1/auth/local', { ...json({ code }), token: null }))
  expect(direct).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 43_200 } })
})

test('aborts a read when its client leaves, but completes a change', async () => {
  await using server = await openServer()
  const task = server.api.addTask(server.api.addProject('One'), 'todo')
  const reached = Promise.withResolvers<AbortSignal>()
  server.api.handle('projects.list', async (_input, { signal }) => {
    reached.resolve(signal)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { items: [] }
  })
  const leaving = new AbortController()
  const reading = server.request('/api/v1/projects', { signal: leaving.signal })
  const signal = await reached.promise
  leaving.abort()
  await expect(reading).rejects.toThrow()
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  const changing = Promise.withResolvers<{ signal: AbortSignal; go: () => void }>()
  const changed = Promise.withResolvers<boolean>()
  server.api.handle('tasks.cancel', async (_input, { signal }) => {
    const gate = Promise.withResolvers<void>()
    changing.resolve({ signal, go: gate.resolve })
    await gate.promise
    changed.resolve(signal.aborted)
    return { task }
  })
  const away = new AbortController()
  const cancelling = server.request(`/api/v1/tasks/${task.id}/cancel`, { method: 'POST', signal: away.signal })
  const { go } = await changing.promise
  away.abort()
  await expect(cancelling).rejects.toThrow()
  go()
  expect(await changed.promise).toBe(false)
})
