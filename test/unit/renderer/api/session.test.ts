import { expect, test } from 'vitest'
import { createWebSession, type SessionHost } from '../../../../src-renderer/api/session.ts'
import { ApiError, type ErrorCode } from '../../../../src-shared/contract/errors.ts'
import type { OperationName } from '../../../../src-shared/contract/operations.ts'

const pair = (token: string) => ({
  user: {},
  access_token: token,
  refresh_token: `refresh-${token}`,
  token_type: 'Bearer',
  expires_in: 900,
})

function setUp(hash = '', kept: Record<string, string> = {}) {
  const storage = new Map(Object.entries(kept))
  const device = new Map<string, string>()
  const timers: { readonly at: number; readonly run: () => void; cancelled: boolean }[] = []
  const calls: [OperationName, unknown][] = []
  const answers = new Map<OperationName, () => unknown>()
  let now = 1_000_000
  let address = hash
  const host: SessionHost = {
    storage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
      removeItem: (key) => void storage.delete(key),
    },
    device: {
      getItem: (key) => device.get(key) ?? null,
      setItem: (key, value) => void device.set(key, value),
      removeItem: (key) => void device.delete(key),
    },
    alone: (work) => work(),
    address: { hash, clearHash: () => (address = '') },
    now: () => now,
    later(ms, run) {
      const timer = { at: now + ms, run, cancelled: false }
      timers.push(timer)
      return () => (timer.cancelled = true)
    },
  }
  const session = createWebSession(async (name, input) => {
    calls.push([name, input])
    const answer = answers.get(name)
    if (!answer) throw new Error(`Nothing answers ${name}`)
    return answer() as never
  }, host)
  const due = () => timers.filter((timer) => !timer.cancelled).at(-1)
  return { session, storage, device, calls, answers, due, address: () => address, pass: (ms: number) => (now += ms) }
}
function refuse(code: ErrorCode) {
  return () => {
    throw new ApiError({ code, message: 'No.' })
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('signs in as local operator with a one-time code and removes it from the address', async () => {
  const { session, answers, calls, address, storage } = setUp('#code=abc')
  answers.set('auth.local', () => ({ access_token: 'local', token_type: 'Bearer', expires_in: 900 }))
  await session.start()
  expect(calls).toEqual([['auth.local', { code: 'abc' }]])
  expect(session.state).toEqual({ kind: 'signed_in', as: 'local' })
  expect(session.token()).toBe('local')
  expect(address()).toBe('')
  expect([...storage.values()].join()).toContain('local')
})

test('leads to the sign-in with a reason after a used code', async () => {
  const { session, answers, address } = setUp('#code=abc')
  answers.set('auth.local', refuse('invalid_credentials'))
  await session.start()
  expect(session.state.kind).toBe('signed_out')
  expect(session.state).toHaveProperty('reason', expect.stringContaining('expired'))
  expect(address()).toBe('')
})

test('continues after a reload with the tab’s local token, until it ends', async () => {
  const first = setUp('#code=abc')
  first.answers.set('auth.local', () => ({ access_token: 'local', token_type: 'Bearer', expires_in: 900 }))
  await first.session.start()
  const kept = Object.fromEntries(first.storage)

  const again = setUp('', kept)
  await again.session.start()
  expect(again.session.token()).toBe('local')
  again.due()?.run()
  expect(again.session.state.kind).toBe('signed_out')

  const late = setUp('', kept)
  late.pass(901_000)
  await late.session.start()
  expect(late.session.state).toEqual({ kind: 'signed_out', reason: null })
})

test('keeps tokens of a password in memory only, and refreshes them a minute early', async () => {
  const { session, answers, storage, due, calls } = setUp()
  await session.start()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  expect(session.state).toEqual({ kind: 'signed_in', as: 'account' })
  expect(storage.size).toBe(0)
  expect(due()?.at).toBe(1_000_000 + 840_000)

  answers.set('auth.refresh', () => pair('two'))
  due()?.run()
  await settled()
  expect(calls.at(-1)).toEqual(['auth.refresh', { refresh_token: 'refresh-one' }])
  expect(session.token()).toBe('two')
})

test('refreshes once for two refused calls', async () => {
  const { session, answers, calls } = setUp()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  answers.set('auth.refresh', () => pair('two'))
  await Promise.all([session.rejected('token_expired'), session.rejected('token_expired')])
  expect(calls.filter(([name]) => name === 'auth.refresh')).toHaveLength(1)
})

test('signs out with a reason when the refresh token is invalid', async () => {
  const { session, answers } = setUp()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  answers.set('auth.refresh', refuse('refresh_token_reused'))
  await session.rejected('token_expired')
  expect(session.state).toEqual({ kind: 'signed_out', reason: 'Your session has ended. Sign in again.' })
  expect(session.token()).toBeNull()
})

test('does not sign out while the service is away, and retries the refresh', async () => {
  const { session, answers, due } = setUp()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  answers.set('auth.refresh', () => {
    throw new Error('no connection')
  })
  await session.rejected('token_expired')
  expect(session.state.kind).toBe('signed_in')
  answers.set('auth.refresh', () => pair('two'))
  due()?.run()
  await settled()
  expect(session.token()).toBe('two')
})

test('ignores refusals that do not concern the token', async () => {
  const { session, answers, calls } = setUp()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  await session.rejected('not_a_member')
  expect(calls.map(([name]) => name)).toEqual(['auth.login'])
})

test('forgets the tokens on sign-out, then tells the service', async () => {
  const { session, answers, calls } = setUp()
  answers.set('auth.login', () => pair('one'))
  await session.login({ email: 'a@b.c', password: 'secret-secret' })
  answers.set('auth.logout', () => {
    expect(session.token()).toBeNull()
    return null
  })
  await session.logout()
  expect(calls.at(-1)).toEqual(['auth.logout', { refresh_token: 'refresh-one' }])
  expect(session.state).toEqual({ kind: 'signed_out', reason: null })
})

test('removes the code of an invite from the address and keeps it for the registration', async () => {
  const { session, address } = setUp('#invite=abc')
  await session.start()
  expect([session.invite, session.state, address()]).toEqual(['abc', { kind: 'signed_out', reason: null }, ''])
})

test('goes on with a session that the device remembers, and forgets it once it has ended', async () => {
  const { session, answers, calls, device } = setUp()
  answers.set('auth.login', () => pair('first'))
  answers.set('auth.resume', () => pair('second'))
  await session.start()
  expect([session.state.kind, calls]).toEqual(['signed_out', []])
  await session.login({ email: 'a@b.test', password: 'x', remember: true })
  await session.start()
  expect([session.state.kind, session.token()]).toEqual(['signed_in', 'second'])
  answers.set('auth.resume', refuse('refresh_token_reused'))
  await session.start()
  expect([session.state.kind, device.size]).toEqual(['signed_out', 0])
  // Who signs in without it isn't followed by who did before.
  device.set('copse.remembered', 'yes')
  await session.login({ email: 'a@b.test', password: 'x' })
  expect(device.size).toBe(0)
})
