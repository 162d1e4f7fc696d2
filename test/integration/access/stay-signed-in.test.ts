import { expect, test } from 'vitest'
import { me } from '../../helpers/asking.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

const owner = { email: 'owner@copse.test', password: 'correct horse' }
const dayMs = 24 * 60 * 60_000

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly access_token: string
  readonly refresh_token: string
  /** The whole cookie; null if none was set. */
  readonly cookie: string | null
}

async function post(
  { url }: RunningApp,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Partial<Answer> & { error?: { code: string } }
  const { access_token = '', refresh_token = '' } = json
  const cookie = response.headers.get('set-cookie')
  return { status: response.status, code: json.error?.code, access_token, refresh_token, cookie }
}
const valueOf = (cookie: string | null) => /svc_session=([^;]*)/.exec(cookie ?? '')?.[1] ?? ''
const signIn = (running: RunningApp) => post(running, '/auth/login', { ...owner, remember: true })
const resume = (running: RunningApp, value: string, headers: Record<string, string> = {}) =>
  post(running, '/auth/resume', {}, { cookie: `other=1; svc_session=${value}`, ...headers })
const outcome = ({ status, code }: Answer) => [status, code]

test('goes on with the same session by a cookie that no script can read and no other site sends', async () => {
  await using running = await runApp()
  const plain = await post(running, '/auth/login', owner)
  expect(plain.cookie).toBeNull()
  const first = await signIn(running)
  const attributes = 'Path=/api/v1/auth; HttpOnly; SameSite=Strict; Max-Age=2592000'
  expect(first.cookie).toBe(`svc_session=${valueOf(first.cookie)}; ${attributes}`)
  expect(valueOf(first.cookie)).toMatch(/^[\w-]{40,}$/)

  const sessions = async () =>
    (await running.clientWith(first.access_token).call('auth.list_sessions', {})).items.length
  const before = await sessions()
  const next = await resume(running, valueOf(first.cookie))
  expect([next.status, await me(running, next.access_token)]).toEqual([200, [200, null]])
  expect(await sessions()).toBe(before)
  expect(valueOf(next.cookie)).not.toBe(valueOf(first.cookie))
  // A stolen old one ends the session for thief and owner.
  expect(outcome(await resume(running, valueOf(first.cookie)))).toEqual([401, 'refresh_token_reused'])
  expect(outcome(await resume(running, valueOf(next.cookie)))).toEqual([401, 'invalid_refresh_token'])
  expect(await me(running, next.access_token)).toEqual([401, 'invalid_token'])
})

test('is sent over TLS only where the page came over it, as behind a proxy that is trusted', async () => {
  await using running = await runApp({ config: { trustProxy: ['127.0.0.1'] } })
  const through = (proto: string) =>
    post(running, '/auth/login', { ...owner, remember: true }, { 'x-forwarded-proto': proto })
  expect((await through('https')).cookie).toMatch(/; Secure$/)
  expect((await through('http')).cookie).not.toContain('Secure')
  await using direct = await runApp()
  const claimed = { 'x-forwarded-proto': 'https' }
  expect((await post(direct, '/auth/login', { ...owner, remember: true }, claimed)).cookie).not.toContain('Secure')
})

test('goes on for thirty days and not after, across a restart', async () => {
  const time = { now: Date.parse('2026-11-21T09:30:00.000Z') }
  const clock = { now: () => time.now }
  await using first = await runApp({ keepData: true, clock })
  const [kept, late] = [await signIn(first), await signIn(first)]
  await using running = await first.restart()
  time.now += 29 * dayMs
  const next = await resume(running, valueOf(kept.cookie))
  expect(next.status).toBe(200)
  // Renewing the pair does not shorten what the cookie keeps.
  await post(running, '/auth/refresh', { refresh_token: next.refresh_token })
  time.now += 20 * dayMs
  expect((await resume(running, valueOf(next.cookie))).status).toBe(200)
  expect(outcome(await resume(running, valueOf(late.cookie)))).toEqual([401, 'invalid_refresh_token'])
})

test('lets no other page, no guess and no other token go on with it', async () => {
  await using running = await runApp()
  const { cookie, refresh_token, access_token } = await signIn(running)
  const value = valueOf(cookie)
  const { host, port } = new URL(running.url)
  const foreign: readonly Record<string, string>[] = [
    { origin: 'https://evil.test' },
    // Another port of this machine is the same site, so its pages send the cookie too.
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]
  for (const headers of foreign) expect(outcome(await resume(running, value, headers))).toEqual([403, 'forbidden'])
  for (const guess of ['', 'x', value.slice(1), `${value}x`, refresh_token, access_token])
    expect(outcome(await resume(running, guess))).toEqual([401, 'invalid_refresh_token'])
  expect(outcome(await post(running, '/auth/resume', {}))).toEqual([401, 'invalid_refresh_token'])
  expect(outcome(await post(running, '/auth/refresh', { refresh_token: value }))).toEqual([
    401,
    'invalid_refresh_token',
  ])
  // None of these used it up.
  expect((await resume(running, value, { origin: `http://${host}` })).status).toBe(200)
})

test('ends with the session: by signing out, from another session, by a new password', async () => {
  await using running = await runApp()
  const out = await signIn(running)
  const left = await post(running, '/auth/logout', { refresh_token: out.refresh_token })
  expect(left.cookie).toMatch(/^svc_session=; .*Max-Age=0/)
  expect(outcome(await resume(running, valueOf(out.cookie)))).toEqual([401, 'invalid_refresh_token'])

  const [here, elsewhere] = [await signIn(running), await signIn(running)]
  const new_password = 'another correct horse'
  await running
    .clientWith(here.access_token)
    .call('auth.change_password', { current_password: owner.password, new_password })
  expect(outcome(await resume(running, valueOf(elsewhere.cookie)))).toEqual([401, 'invalid_refresh_token'])
  const mine = await resume(running, valueOf(here.cookie))
  expect(mine.status).toBe(200)
  const other = await post(running, '/auth/login', { email: owner.email, password: new_password })
  await running.clientWith(other.access_token).call('auth.delete_sessions', {})
  expect(outcome(await resume(running, valueOf(mine.cookie)))).toEqual([401, 'invalid_refresh_token'])
  // Who signs in without it isn't followed by who did before.
  const plain = await post(
    running,
    '/auth/login',
    { email: owner.email, password: new_password },
    { cookie: 'svc_session=old' },
  )
  expect(plain.cookie).toMatch(/Max-Age=0/)
})
