import { expect, test } from 'vitest'
import { ask, codeOf, me } from '../../helpers/asking.ts'
import { register } from '../../helpers/membership.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

// Many guesses at once, over HTTP, from this machine, where addresses are not limited.

const start = Date.parse('2026-11-21T09:30:00.000Z')
const random32 = /^[\w-]{43}$/

/** How often each answer came, of this many requests at once. */
async function answers(count: number, guess: (index: number) => Promise<readonly [number, string | null]>) {
  const all = await Promise.all(Array.from({ length: count }, (_, index) => guess(index)))
  const counted = new Map<string, number>()
  for (const one of all) counted.set(one.join(' '), (counted.get(one.join(' ')) ?? 0) + 1)
  return Object.fromEntries(counted)
}

const login = (running: RunningApp, body: object) => ask(running, '', 'POST', '/auth/login', body)

test('judges ten guesses of a password or reset code, however many come at once', async () => {
  const time = { now: start }
  await using running = await runApp({ clock: { now: () => time.now } })
  const bob = await register(running, 'Bob')
  const eve = await register(running, 'Eve')
  const { code } = await running.client.call('admin.create_reset', { user_id: bob.user_id })
  expect(code).toMatch(random32)
  const ten = { '401 invalid_credentials': 10, '429 rate_limited': 40 }
  const passwordOf = (email: string) => (index: number) => login(running, { email, password: `wrong horse ${index}` })
  // The same where there is no account, and whether or not it waits for a reset.
  for (const email of ['eve@copse.test', 'nobody@copse.test']) expect(await answers(50, passwordOf(email))).toEqual(ten)
  const codeOfReset = (email: string) => (index: number) =>
    login(running, { email, reset_code: `${index}`.padEnd(43, 'x'), new_password: 'battery staple' })
  for (const email of ['bob@copse.test', 'no-one@copse.test'])
    expect(await answers(50, codeOfReset(email))).toEqual(ten)
  // Guesses at the current password, in a session that was found, count too.
  const change = { current_password: 'wrong horse', new_password: 'battery staple' }
  expect(await ask(running, eve.token, 'POST', '/auth/password', change)).toEqual([429, 'rate_limited'])
  // The right code still counts, in its turn.
  const right = { email: 'bob@copse.test', reset_code: code, new_password: 'battery staple' }
  expect(await login(running, right)).toEqual([429, 'rate_limited'])
  time.now += 1_000
  expect(await login(running, right)).toEqual([200, null])
})

test('tells nothing by guesses of what is random, and voids the setup code by ten at once', async () => {
  const exposed = { registration: null, startedAs: 'serve', expose: true } as const
  await using running = await runApp({ unregistered: true, config: exposed })
  const setup = running.app.identity.setupCode() ?? ''
  const account = { email: 'ada@copse.test', password: 'correct horse', display_name: 'Ada' }
  const registerWith = (invite: string) => ask(running, '', 'POST', '/auth/register', { ...account, invite })
  // The right one comes among the wrong ones, too late.
  const tried = await answers(30, (index) => registerWith(index === 29 ? setup : `${index}`.padEnd(43, 'x')))
  expect([setup, tried]).toEqual([expect.stringMatching(random32), { '403 invite_invalid': 30 }])
  expect(running.app.identity.setupCode()).toBeNull()
})

test('refuses guesses of tokens and codes alike, of which each is 122 random bits or more', async () => {
  await using running = await runApp()
  const { client } = running
  const invite = await client.call('admin.create_invite', {})
  const daemon = await client.call('daemons.create', { name: 'D' })
  const pat = await client.call('auth.create_token', { name: 'ci' })
  const session = await client.call('auth.login', { email: 'owner@copse.test', password: 'correct horse' })
  const { code: local } = { code: running.app.identity.createLocalCode() }
  for (const secret of [invite.code, local, pat.token.slice(4), daemon.token.slice(5)]) expect(secret).toMatch(random32)
  expect(session.refresh_token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  // One character off, at either end: no part of a right one is told from a wrong one.
  const near = (secret: string, index: number) => {
    const at = index % 2 === 0 ? secret.length - 2 : secret.indexOf('_') + 1
    return `${secret.slice(0, at)}${secret[at] === '1' ? '2' : '1'}${secret.slice(at + 1)}`
  }
  const post = (path: string, body: object) => ask(running, '', 'POST', path, body)
  const refresh = (index: number) => post('/auth/refresh', { refresh_token: near(session.refresh_token, index) })
  expect(await answers(100, refresh)).toEqual({ '401 invalid_refresh_token': 100 })
  expect(await answers(100, (index) => post('/auth/local', { code: near(local, index) }))).toEqual({
    '401 invalid_credentials': 100,
  })
  const account = { email: 'ada@copse.test', password: 'correct horse', display_name: 'Ada' }
  expect(
    await answers(100, (index) => post('/auth/register', { ...account, invite: near(invite.code, index) })),
  ).toEqual({ '403 invite_invalid': 100 })
  for (const token of [pat.token, daemon.token, session.access_token])
    expect(await answers(100, (index) => me(running, near(token, index)))).toEqual({ '401 invalid_token': 100 })
  // None of them used the right one up.
  expect(await codeOf(client.call('auth.refresh', { refresh_token: session.refresh_token }))).toBe('done')
  expect(await post('/auth/register', { ...account, invite: invite.code })).toEqual([201, null])
  expect((await post('/auth/local', { code: local }))[0]).toBe(200)
})

test('refuses another address for a minute after sixty wrong tokens', async () => {
  await using running = await runApp({ config: { trustProxy: ['127.0.0.1'] } })
  const from = async (address: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address }
    return (await fetch(`${running.url}/api/v1/projects`, { headers })).status
  }
  const guesses = []
  for (let index = 0; index < 70; index++) guesses.push(await from('192.0.2.7', `svc_${String(index).padEnd(43, 'x')}`))
  expect(guesses.filter((status) => status === 401)).toHaveLength(60)
  expect(guesses.slice(60)).toEqual(Array(10).fill(429))
  expect([await from('192.0.2.7', running.token), await from('192.0.2.8', running.token)]).toEqual([429, 200])
})
