import { expect, test } from 'vitest'
import type { OperationName } from '../../../src-shared/contract/operations.ts'
import { operations } from '../../../src-shared/contract/operations.ts'
import { ask, codeOf, me } from '../../helpers/asking.ts'
import { register } from '../../helpers/membership.ts'
import { runApp } from '../../helpers/running-app.ts'

const start = Date.parse('2026-11-21T09:30:00.000Z')

test('allows a read-only token every read and nothing else', async () => {
  await using running = await runApp()
  await running.client.call('agents.create', { name: 'A', executor: 'external', config: { env: { KEY: 'hidden' } } })
  const { token, scope } = await running.client.call('auth.create_token', { name: 'look', scope: 'read' })
  expect(scope).toBe('read')
  const reader = running.clientWith(token)
  const [agent] = (await reader.call('agents.list', {})).items
  expect([agent?.name, agent?.config]).toEqual(['A', {}])
  expect((await reader.call('agents.get', { agent_id: agent?.id ?? '' })).config).toEqual({})
  const unknown = '01a20d6e-6571-7390-9f56-46f85c6bda8c'
  for (const [name, { method, path, who }] of Object.entries(operations)) {
    if (method === 'GET' || who === 'public') continue
    const answer = await ask(running, token, method, path.replace(/\{\w+\}/g, unknown), undefined)
    expect(answer, name).toEqual([403, 'read_only_token'])
  }
})

test('offers a read-only token only reading tools over MCP', async () => {
  await using running = await runApp()
  const { token } = await running.client.call('auth.create_token', { name: 'look', scope: 'read' })
  const tool = async (name: string, args: object) => {
    const accept = 'application/json, text/event-stream'
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const response = await fetch(`${running.url}/api/v1/mcp`, { method: 'POST', headers, body: JSON.stringify(call) })
    return [response.status, await response.text()] as const
  }
  const [status, listed] = await tool('svc_list_projects', {})
  expect([status, listed]).toEqual([200, expect.not.stringContaining('read_only_token')])
  for (const name of [
    'svc_create_task',
    'svc_add_comment',
    'svc_assign_agent',
    'svc_submit_for_review',
    'svc_heartbeat',
  ]) {
    expect((await tool(name, {}))[1], name).toContain('read_only_token')
  }
})

test('accepts a token with an end until then', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  const make = (expires_at: string | null) => running.client.call('auth.create_token', { name: 'ci', expires_at })
  expect(await codeOf(make('2026-11-21T09:30:00.000Z'))).toBe('validation_failed')
  const { token, expires_at } = await make('2026-11-21T10:00:00.000Z')
  const { token: lasting } = await make(null)
  expect([expires_at, await me(running, token)]).toEqual(['2026-11-21T10:00:00.000Z', [200, null]])
  time.now += 30 * 60_000
  expect(await me(running, token)).toEqual([401, 'token_expired'])
  time.now += 400 * 24 * 3_600_000
  expect(await me(running, lasting)).toEqual([200, null])
})

test('lets an admin with a password see and revoke others’ tokens', async () => {
  await using running = await runApp()
  const bob = await register(running, 'Bob')
  const { token, id } = await bob.client.call('auth.create_token', { name: 'ci', scope: 'read' })
  const { token: pat } = await running.client.call('auth.create_token', { name: 'admin' })
  expect(await codeOf(running.clientWith(pat).call('admin.list_tokens', { user_id: bob.user_id }))).toBe('jwt_required')
  const { items } = await running.client.call('admin.list_tokens', { user_id: bob.user_id })
  expect(items).toMatchObject([{ id, name: 'ci', scope: 'read', expires_at: null }])
  await running.client.call('admin.delete_token', { token_id: id })
  expect(await me(running, token)).toEqual([401, 'invalid_token'])
  expect(await codeOf(running.client.call('admin.delete_token', { token_id: id }))).toBe('not_found')
})

test('asks for a JWT before it checks for an admin', async () => {
  await using running = await runApp()
  const bob = await register(running, 'Bob')
  const { token } = await bob.client.call('auth.create_token', { name: 'ci' })
  const { token: pat } = await running.client.call('auth.create_token', { name: 'admin' })
  const jwtOnly = (Object.entries(operations) as [OperationName, (typeof operations)[OperationName]][]).filter(
    ([, { who }]) => who === 'admin_jwt',
  )
  expect(jwtOnly.length).toBeGreaterThan(5)
  for (const [name, { method, path }] of jwtOnly) {
    const at = path.replace(/\{\w+\}/g, bob.user_id)
    const body = method === 'POST' ? {} : undefined
    expect(await ask(running, token, method, at, body), name).toEqual([403, 'admin_required'])
    expect(await ask(running, pat, method, at, body), name).toEqual([403, 'jwt_required'])
  }
})
