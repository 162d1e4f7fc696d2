import { expect, test } from 'vitest'
import { runApp } from '../../helpers/running-app.ts'

type Answer = readonly [status: number, body: Record<string, unknown> | null]

/** A request as a script sends it. */
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

test('registers, signs in with the e-mail in any case, refreshes and signs out', async () => {
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

test('accepts passwords of 8 characters to 72 bytes', async () => {
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
    await register('x2345678', 'b'),
    await register('é'.repeat(36), 'c'),
    await register(`${'é'.repeat(36)}x`, 'd'),
  ]).toEqual([refused, [201], [201], refused])
})

test('creates personal tokens after a sign-in with password, which revoke only themselves', async () => {
  await using running = await runApp()
  const tokens = (method: string, token: string, body?: object, path = '') =>
    ask(running.url, method, `/auth/tokens${path}`, body, token)
  const [status, made] = await tokens('POST', running.token, { name: 'laptop' })
  expect([status, made?.['token']]).toEqual([201, expect.stringMatching(/^svc_[\w-]{43}$/)])
  const pat = String(made?.['token'])
  const [, other] = await tokens('POST', running.token, { name: 'other' })
  const refused = [403, { error: { code: 'jwt_required' } }]
  expect(await tokens('POST', pat, { name: 'another' })).toMatchObject(refused)
  expect(await tokens('GET', pat)).toMatchObject(refused)
  expect(await tokens('DELETE', pat, undefined, `/${String(other?.['id'])}`)).toMatchObject(refused)
  const [, listed] = await tokens('GET', running.token)
  const { token: _, ...shown } = made ?? {}
  expect(listed).toMatchObject({ items: [{ name: 'other' }, { ...shown, scope: 'full', expires_at: null }] })
  expect(await tokens('DELETE', pat, undefined, `/${String(made?.['id'])}`)).toEqual([204, null])
  expect((await ask(running.url, 'GET', '/auth/me', undefined, pat))[0]).toBe(401)
})
