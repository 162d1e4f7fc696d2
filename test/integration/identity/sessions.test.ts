import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { holdDatabase } from '../../helpers/hold-database.ts'
import { from, here, lasting, openIdentity, person } from './open-identity.ts'

test('makes the first person admin and owner of everything ownerless, and no later one', async () => {
  await using opened = await openIdentity()
  const first = await opened.identity.register(person('Owner@example.com'), here)
  const second = await opened.identity.register(person('member@example.com'), here)
  expect(first.user).toMatchObject({ email: 'Owner@example.com', handle: 'owner', is_admin: true })
  expect(second.user.is_admin).toBe(false)
  expect(opened.adopted).toEqual([first.user.id])
})

test('makes one of two simultaneous first accounts the owner', async () => {
  await using opened = await openIdentity()
  const sessions = await Promise.all([
    opened.identity.register(person('owner@example.com'), here),
    opened.identity.register(person('member@example.com'), here),
  ])
  expect(sessions.filter((session) => session.user.is_admin)).toHaveLength(1)
  expect(opened.adopted).toHaveLength(1)
})

test('leaves no account and no flag after a failed bootstrap', async () => {
  let broken = true
  await using opened = await openIdentity({
    adopt: () => {
      if (broken) throw new Error('disk full')
    },
  })
  await expect(opened.identity.register(person('owner@example.com'), here)).rejects.toThrow('disk full')
  expect([opened.identity.users.list(), opened.identity.isRegistered()]).toEqual([[], false])
  broken = false
  expect((await opened.identity.register(person('owner@example.com'), here)).user.is_admin).toBe(true)
})

test('lets only the first person in with closed registration', async () => {
  await using opened = await openIdentity({ registration: 'closed' })
  await opened.identity.register(person('owner@example.com'), here)
  await expect(opened.identity.register(person('member@example.com'), here)).rejects.toMatchObject({
    code: 'registration_closed',
  })
})

test('refuses one of two simultaneous first registrations if closed', async () => {
  await using opened = await openIdentity({ registration: 'closed' })
  const results = await Promise.allSettled([
    opened.identity.register(person('owner@example.com'), here),
    opened.identity.register(person('member@example.com'), here),
  ])
  expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('accepts an e-mail in any case for registration and sign-in', async () => {
  await using opened = await openIdentity()
  await opened.identity.register(person('owner@example.com'), here)
  await expect(opened.identity.register(person('OWNER@Example.com'), here)).rejects.toMatchObject({
    code: 'email_taken',
  })
  const session = await opened.identity.login({ email: 'OWNER@example.com', password: 'correct horse' }, here)
  expect(session).toMatchObject({ token_type: 'Bearer', expires_in: 900, user: { handle: 'owner' } })
})

test('answers a wrong password and an unknown account alike, also when limited', async () => {
  await using opened = await openIdentity()
  await opened.identity.register(person('owner@example.com'), here)
  const answers = async (email: string) => {
    const seen: unknown[] = []
    for (let attempt = 0; attempt < 11; attempt++) {
      const login = opened.identity.login({ email, password: 'wrong' }, from('10.0.0.1'))
      seen.push(await login.catch((error: { code: string; message: string }) => [error.code, error.message]))
    }
    return seen
  }
  const known = await answers('owner@example.com')
  expect(await answers('nobody@example.com')).toEqual(known)
  expect([known[0], known[10]]).toEqual([
    ['invalid_credentials', 'Email or password is wrong.'],
    ['rate_limited', 'Too many failed attempts. Try again in a second.'],
  ])
  const right = opened.identity.login({ email: 'owner@example.com', password: 'correct horse' }, from('10.0.0.2'))
  expect((await right).user.handle).toBe('owner')
})

test('accepts a refresh token once, and ends the session on reuse', async () => {
  await using opened = await openIdentity()
  const { identity } = opened
  const first = await identity.register(person('owner@example.com'), here)
  const other = await identity.login({ email: 'owner@example.com', password: 'correct horse' }, here)
  const second = await identity.refresh(first.refresh_token, here)
  expect(second.refresh_token).not.toBe(first.refresh_token)
  await expect(identity.refresh(first.refresh_token, here)).rejects.toMatchObject({ code: 'refresh_token_reused' })
  await expect(identity.refresh(second.refresh_token, here)).rejects.toMatchObject({ code: 'invalid_refresh_token' })
  expect((await identity.refresh(other.refresh_token, here)).user.handle).toBe('owner')
})

test('ends a refresh token after seven days, and on sign-out', async () => {
  await using opened = await openIdentity()
  const { identity, time } = opened
  const session = await identity.register(person('owner@example.com'), here)
  identity.logout(session.refresh_token, here)
  identity.logout('unknown', here)
  await expect(identity.refresh(session.refresh_token, here)).rejects.toMatchObject({ code: 'invalid_refresh_token' })
  const again = await identity.login({ email: 'owner@example.com', password: 'correct horse' }, here)
  time.now += 7 * 24 * 3_600_000
  await expect(identity.refresh(again.refresh_token, here)).rejects.toMatchObject({ code: 'invalid_refresh_token' })
})

test('issues an HS256 JWT with user and expiry only', async () => {
  await using opened = await openIdentity()
  const { access_token, user } = await opened.identity.register(person('owner@example.com'), here)
  const iat = opened.time.now / 1_000
  expect(decodeProtectedHeader(access_token).alg).toBe('HS256')
  const sid = opened.identity.sessions.list(user.id, null)[0]?.id
  expect(decodeJwt(access_token)).toEqual({ sub: user.id, email: user.email, is_admin: true, sid, iat, exp: iat + 900 })
})

test('issues a UUID as refresh token and stores its SHA-256', async () => {
  await using opened = await openIdentity()
  const { refresh_token } = await opened.identity.register(person('owner@example.com'), here)
  expect(refresh_token).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const kept = JSON.stringify(opened.db.all(sql`select * from refresh_tokens`))
  expect(kept).not.toContain(refresh_token)
  expect(kept).toContain(hash('sha256', refresh_token))
})

test('accepts an access token for 15 minutes', async () => {
  await using opened = await openIdentity()
  const { identity, time } = opened
  const session = await identity.register(person('owner@example.com'), here)
  time.now += 899_000
  expect(await identity.authenticate(session.access_token)).toEqual({
    kind: 'user',
    user_id: session.user.id,
    handle: 'owner',
    is_admin: true,
    via: 'jwt',
    session_id: decodeJwt(session.access_token)['sid'],
  })
  time.now += 1_000
  await expect(identity.authenticate(session.access_token)).rejects.toMatchObject({ code: 'token_expired' })
})

test('refuses a token of another algorithm, none, another key or without claims', async () => {
  await using opened = await openIdentity()
  const { identity, time, dataDir } = opened
  const { user, access_token } = await identity.register(person('owner@example.com'), here)
  const { sid } = decodeJwt(access_token)
  const key = new Uint8Array(readFileSync(join(dataDir, 'secrets', 'jwt.key')))
  const about = { sub: user.id, email: user.email, is_admin: true, sid }
  const claims = { ...about, iat: time.now / 1_000, exp: time.now / 1_000 + 60 }
  const sign = (alg: string, secret: Uint8Array, payload: Record<string, unknown>) =>
    new SignJWT(payload).setProtectedHeader({ alg }).sign(secret)
  const { exp: _, ...endless } = claims
  const { sid: __, ...ofNoSession } = claims
  const forged = [
    await sign('HS512', key, claims),
    await sign('HS384', key, claims),
    await sign('HS256', new Uint8Array(32), claims),
    await sign('HS256', key, endless),
    await sign('HS256', key, { ...claims, sub: 'somebody' }),
    await sign('HS256', key, ofNoSession),
    await sign('HS256', key, { ...claims, sid: v7() }),
    new UnsecuredJWT(claims).encode(),
    'nonsense',
    `svc_${'x'.repeat(43)}`,
    `local_${'x'.repeat(43)}`,
  ]
  for (const token of forged) {
    await expect(identity.authenticate(token), token).rejects.toMatchObject({ code: 'invalid_token' })
  }
  expect(await identity.authenticate(await sign('HS256', key, claims))).toMatchObject({ user_id: user.id })
  await expect(identity.authenticate(null)).rejects.toMatchObject({ code: 'missing_token' })
})

test('stores the signing key, readable by its owner only', async () => {
  await using opened = await openIdentity()
  const modes = [opened.dataDir + '/secrets', opened.dataDir + '/secrets/jwt.key'].map(
    (path) => statSync(path).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o600])
})

test('locks no one out when the clock goes back', async () => {
  await using opened = await openIdentity()
  const { identity, time } = opened
  const session = await identity.register(person('owner@example.com'), here)
  const login = (password: string) => identity.login({ email: 'owner@example.com', password }, from('10.0.0.1'))
  for (let attempt = 0; attempt < 10; attempt++) await login('wrong').catch(() => undefined)
  await expect(login('correct horse')).rejects.toMatchObject({ code: 'rate_limited' })
  time.now -= 24 * 3_600_000
  expect(await identity.authenticate(session.access_token)).toMatchObject({ user_id: session.user.id })
  const again = await login('correct horse')
  expect(await identity.authenticate(again.access_token)).toMatchObject({ user_id: session.user.id })
  expect((await identity.refresh(session.refresh_token, here)).user.id).toBe(session.user.id)
})

test('accepts a token while the database can’t be written, and saves its use later', async () => {
  await using opened = await openIdentity()
  const { identity, time } = opened
  const { user, access_token } = await identity.register(person('owner@example.com'), here)
  const { token } = identity.tokens.create(user.id, lasting('script'))
  time.now += 2 * 60_000
  {
    await using held = await holdDatabase(join(opened.dataDir, 'copse.db'))
    opened.db.$client.pragma('busy_timeout = 1')
    expect(await identity.authenticate(access_token)).toMatchObject({ kind: 'user' })
    expect(await identity.authenticate(token)).toMatchObject({ kind: 'user' })
    await held.release()
  }
  time.now += 2 * 60_000
  await identity.authenticate(access_token)
  const [session] = identity.sessions.list(user.id, null)
  expect(session?.last_used_at).toBe(new Date(time.now).toISOString())
})
