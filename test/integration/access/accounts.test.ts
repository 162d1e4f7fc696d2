import { expect, test } from 'vitest'
import { ask, codeOf, login, me } from '../../helpers/asking.ts'
import { register } from '../../helpers/membership.ts'
import { runApp } from '../../helpers/running-app.ts'

const owner = { email: 'owner@copse.test', password: 'correct horse' }
const start = Date.parse('2026-11-21T09:30:00.000Z')

test('voids an access token with its session, also across a restart', async () => {
  await using first = await runApp({ keepData: true })
  const session = await login(first)
  await using running = await first.restart()
  const anonymous = running.clientWith(null)
  // The token is used once before, so that every cache has to forget it.
  expect(await me(running, session.access_token)).toEqual([200, null])
  await anonymous.call('auth.logout', { refresh_token: session.refresh_token })
  expect(await me(running, session.access_token)).toEqual([401, 'invalid_token'])
  const stolen = await login(running)
  const renewed = await anonymous.call('auth.refresh', { refresh_token: stolen.refresh_token })
  expect(await me(running, renewed.access_token)).toEqual([200, null])
  expect(await codeOf(anonymous.call('auth.refresh', { refresh_token: stolen.refresh_token }))).toBe(
    'refresh_token_reused',
  )
  expect(await me(running, renewed.access_token)).toEqual([401, 'invalid_token'])
  expect(await me(running, stolen.access_token)).toEqual([401, 'invalid_token'])
  expect(await me(running, first.token)).toEqual([200, null])
})

test('accepts neither an access token nor an invalid UUID as refresh token', async () => {
  await using running = await runApp()
  for (const refresh_token of [running.token, 'x', '', 'x'.repeat(20_000)]) {
    expect(await ask(running, '', 'POST', '/auth/refresh', { refresh_token })).toEqual([401, 'invalid_refresh_token'])
  }
})

test('lists sessions newest first, and ends one or all others', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  const bob = await register(running, 'Bob')
  const [laptop, phone] = [await login(running), await login(running)]
  const client = running.clientWith(laptop.access_token)
  const { items } = await client.call('auth.list_sessions', {})
  expect(items.map(({ current }) => current)).toEqual([false, true, false])
  expect(items[1]).toEqual({
    id: expect.any(String) as string,
    created_at: '2026-11-21T09:30:00.000Z',
    last_used_at: '2026-11-21T09:30:00.000Z',
    address: '127.0.0.1',
    client: expect.stringContaining('node') as string,
    current: true,
  })
  time.now += 120_000
  expect((await client.call('auth.list_sessions', {})).items[1]?.last_used_at).toBe('2026-11-21T09:32:00.000Z')
  const [newest] = items
  expect(await codeOf(bob.client.call('auth.delete_session', { session_id: newest?.id ?? '' }))).toBe('forbidden')
  await client.call('auth.delete_session', { session_id: newest?.id ?? '' })
  expect(await codeOf(client.call('auth.delete_session', { session_id: newest?.id ?? '' }))).toBe('not_found')
  expect(await me(running, phone.access_token)).toEqual([401, 'invalid_token'])
  await client.call('auth.delete_sessions', {})
  expect(await me(running, running.token)).toEqual([401, 'invalid_token'])
  expect((await client.call('auth.list_sessions', {})).items.map(({ current }) => current)).toEqual([true])
  expect(await me(running, bob.token)).toEqual([200, null])
})

test('ends all other sessions on a new password, which must differ and not be common', async () => {
  await using running = await runApp()
  const { token: pat } = await running.client.call('auth.create_token', { name: 'ci' })
  const other = await login(running)
  const change = (current_password: string, new_password: string) =>
    codeOf(running.client.call('auth.change_password', { current_password, new_password }))
  expect([
    await change('wrong horse', 'battery staple'),
    await change(owner.password, owner.password),
    await change(owner.password, 'QWERTYUIOP'),
    await change(owner.password, 'short'),
    await ask(running, pat, 'POST', '/auth/password', {
      current_password: owner.password,
      new_password: 'battery staple',
    }),
    await change(owner.password, 'battery staple'),
  ]).toEqual([
    'invalid_credentials',
    'validation_failed',
    'validation_failed',
    'validation_failed',
    [403, 'jwt_required'],
    'done',
  ])
  expect(await me(running, other.access_token)).toEqual([401, 'invalid_token'])
  expect([await me(running, running.token), await me(running, pat)]).toEqual([
    [200, null],
    [200, null],
  ])
  expect(await codeOf(login(running))).toBe('invalid_credentials')
  expect(await codeOf(login(running, 'battery staple'))).toBe('done')
})

test('signs in once with an admin’s reset code, within an hour, and ends other sessions', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  const bob = await register(running, 'Bob')
  const reset = () => running.client.call('admin.create_reset', { user_id: bob.user_id })
  const anonymous = running.clientWith(null)
  const use = (reset_code: string, new_password = 'battery staple', email = 'Bob@copse.test') =>
    codeOf(anonymous.call('auth.login', { email, reset_code, new_password }))
  const first = await reset()
  expect(first).toEqual({ code: expect.any(String) as string, expires_at: '2026-11-21T10:30:00.000Z' })
  const second = await reset()
  expect([
    await use(first.code),
    await use(second.code, 'password1'),
    await use(second.code, 'other', 'x@copse.test'),
  ]).toEqual(['invalid_credentials', 'validation_failed', 'validation_failed'])
  expect(await use(second.code, 'battery staple', owner.email)).toBe('invalid_credentials')
  expect([await use(second.code), await use(second.code, 'another staple')]).toEqual(['done', 'invalid_credentials'])
  expect(await me(running, bob.token)).toEqual([401, 'invalid_token'])
  expect(await codeOf(anonymous.call('auth.login', { email: 'bob@copse.test', password: 'battery staple' }))).toBe(
    'done',
  )
  const late = await reset()
  time.now += 3_600_000
  expect(await use(late.code)).toBe('invalid_credentials')
})

test('refuses a reset code together with a password', async () => {
  await using running = await runApp()
  for (const body of [
    {},
    { reset_code: 'x' },
    { new_password: 'battery staple' },
    { reset_code: 'x', password: 'y' },
  ]) {
    const answer = await ask(running, '', 'POST', '/auth/login', { email: owner.email, ...body })
    expect(answer, JSON.stringify(body)).toEqual([400, 'validation_failed'])
  }
})

test('makes a pair wait after failed sign-ins, the same for a missing account', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  const attempt = async (email: string, password = 'wrong horse') => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ email, password })
    const response = await fetch(`${running.url}/api/v1/auth/login`, { ...init, body })
    return [response.status, response.headers.get('retry-after')]
  }
  for (const email of [owner.email, 'nobody@copse.test']) {
    for (let failures = 0; failures < 10; failures++) expect(await attempt(email)).toEqual([401, null])
    expect(await attempt(email)).toEqual([429, '1'])
    time.now += 1_000
    expect([await attempt(email), await attempt(email)]).toEqual([
      [401, null],
      [429, '2'],
    ])
  }
  time.now += 2_000
  expect(await attempt(owner.email, owner.password)).toEqual([200, null])
  expect(await attempt(owner.email)).toEqual([401, null])
})

test('signs in a person from their usual address whatever fails elsewhere', async () => {
  await using running = await runApp({ config: { trustProxy: ['127.0.0.1'], allowedHosts: ['127.0.0.1'] } })
  const from = async (address: string, password: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
    const body = JSON.stringify({ ...owner, password })
    return (await fetch(`${running.url}/api/v1/auth/login`, { method: 'POST', headers, body })).status
  }
  expect(await from('10.0.0.1', owner.password)).toBe(200)
  for (let index = 0; index < 100; index++) expect(await from(`10.0.1.${index}`, 'wrong horse')).toBe(401)
  expect([await from('10.0.0.2', owner.password), await from('10.0.0.1', owner.password)]).toEqual([429, 200])
})
