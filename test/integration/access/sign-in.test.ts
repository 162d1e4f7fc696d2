import { expect, test } from 'vitest'
import { runApp } from '../../helpers/running-app.ts'

type Answer = readonly [status: number, body: Record<string, unknown> | null]

/** A request as a script makes it. */
async function ask(url: string, method: string, path: string, body?: object, token?: string): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return [response.status, text === '' ? null : (JSON.parse(text) as Record<string, unknown>)]
}

const pair = {
  access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string,
  refresh_token: expect.any(String) as string,
  token_type: 'Bearer',
  expires_in: 900,
}

test('whoever registers is signed in, comes back in any case of the email, goes on by refreshing, and leaves', async () => {
  await using running = await runApp({ unregistered: true })
  const post = (path: string, body: object) => ask(running.url, 'POST', `/auth${path}`, body)
  const account = { email: 'Ada@copse.test', password: 'correct horse' }
  const [made, registered] = await post('/register', { ...account, display_name: 'Ada' })
  const user = expect.objectContaining({ email: 'Ada@copse.test', handle: 'ada', is_admin: true }) as object
  expect([made, registered]).toEqual([201, { ...pair, user }])
  const [status, session] = await post('/login', { ...account, email: 'ADA@COPSE.TEST' })
  expect([status, session]).toEqual([200, { ...pair, user }])
  const { refresh_token } = session as { refresh_token: string }
  const [again, renewed] = await post('/refresh', { refresh_token })
  expect([again, renewed]).toEqual([200, { ...pair, user }])
  expect(renewed?.['refresh_token']).not.toBe(refresh_token)
  for (const token of [renewed?.['refresh_token'], 'unknown']) {
    expect(await post('/logout', { refresh_token: token })).toEqual([204, null])
  }
  expect((await post('/refresh', { refresh_token: renewed?.['refresh_token'] }))[0]).toBe(401)
})

test('a password has 8 characters to 72 bytes', async () => {
  await using running = await runApp()
  const register = async (password: string, name: string) => {
    const account = { email: `${name}@copse.test`, password, display_name: name }
    const [status, body] = await ask(running.url, 'POST', '/auth/register', account)
    const { error } = body as { error?: { code: string; details: { issues: readonly { path: string }[] } } }
    return [status, ...(error ? [error.code, error.details.issues[0]?.path] : [])]
  }
  const refused = [400, 'validation_failed', 'password']
  expect([
    await register('1234567', 'a'),
    await register('12345678', 'b'),
    await register('é'.repeat(36), 'c'),
    await register(`${'é'.repeat(36)}x`, 'd'),
  ]).toEqual([refused, [201], [201], refused])
})

test('a personal token is made by whoever is signed in with a password, and by no other token', async () => {
  await using running = await runApp()
  const tokens = (method: string, token: string, body?: object) => ask(running.url, method, '/auth/tokens', body, token)
  const [status, made] = await tokens('POST', running.token, { name: 'laptop' })
  expect([status, made?.['token']]).toEqual([201, expect.stringMatching(/^svc_[\w-]{43}$/)])
  const pat = String(made?.['token'])
  const [forbidden, refusal] = await tokens('POST', pat, { name: 'another' })
  expect([forbidden, refusal]).toMatchObject([403, { error: { code: 'jwt_required' } }])
  const [, listed] = await tokens('GET', pat)
  const times = { created_at: made?.['created_at'], last_used_at: expect.any(String) as string }
  expect(listed).toEqual({ items: [{ id: made?.['id'], name: 'laptop', ...times }] })
})

test('where registration is closed the first person registers, and the second is refused', async () => {
  await using running = await runApp({ unregistered: true, config: { registration: 'closed' } })
  const register = (name: string) => {
    const account = { email: `${name}@copse.test`, password: 'correct horse', display_name: name }
    return ask(running.url, 'POST', '/auth/register', account)
  }
  expect((await register('ada'))[0]).toBe(201)
  expect(await register('bob')).toMatchObject([403, { error: { code: 'registration_closed' } }])
})
