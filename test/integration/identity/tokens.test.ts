import { sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { AgentId, ExecutionId, ProjectId, TaskId, TokenId } from '../../../src-shared/contract/ids.ts'
import { here, lasting, openIdentity, person } from './open-identity.ts'

test('shows a personal token once, stores its hash, and accepts it until it is revoked', async () => {
  await using opened = await openIdentity()
  const { identity, db } = opened
  const { user } = await identity.register(person('owner@example.com'), here)
  const made = identity.tokens.create(user.id, lasting('laptop'))
  const kept = identity.tokens.create(user.id, lasting('ci'))
  expect(made.token).toMatch(/^svc_[\w-]{43}$/)
  expect(await identity.authenticate(made.token)).toMatchObject({ kind: 'user', user_id: user.id, via: 'pat' })
  expect(JSON.stringify(db.all(sql`select * from api_tokens`))).not.toContain(made.token.slice(4))
  expect(identity.tokens.list(user.id)).toEqual([
    { id: kept.id, ...lasting('ci'), created_at: kept.created_at, last_used_at: null },
    { id: made.id, ...lasting('laptop'), created_at: made.created_at, last_used_at: '2026-11-21T09:30:00.000Z' },
  ])
  identity.tokens.delete(user.id, made.id)
  await expect(identity.authenticate(made.token)).rejects.toMatchObject({ code: 'invalid_token' })
  expect(await identity.authenticate(kept.token)).toMatchObject({ via: 'pat' })
})

test('does not revoke another’s token, or a missing one', async () => {
  await using opened = await openIdentity()
  const { identity } = opened
  const owner = await identity.register(person('owner@example.com'), here)
  const member = await identity.register(person('member@example.com'), here)
  const made = identity.tokens.create(owner.user.id, lasting('laptop'))
  const codeOf = (action: () => void) => {
    try {
      action()
      return null
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(codeOf(() => identity.tokens.delete(member.user.id, made.id))).toBe('forbidden')
  expect(codeOf(() => identity.tokens.delete(owner.user.id, TokenId.parse(v7())))).toBe('not_found')
  identity.tokens.delete(owner.user.id, made.id)
  expect(codeOf(() => identity.tokens.delete(owner.user.id, made.id))).toBe('not_found')
})

test('names the execution in an agent’s token, and ends with it', async () => {
  const ended = new Set<string>()
  await using opened = await openIdentity({ isAtWork: (id) => !ended.has(id) })
  const { agentTokens, authenticate } = opened.identity
  const bind = () => ({
    agent_id: AgentId.parse(v7()),
    project_id: ProjectId.parse(v7()),
    task_id: TaskId.parse(v7()),
    execution_id: ExecutionId.parse(v7()),
  })
  const [first, second] = [bind(), bind()]
  const [token, other] = [agentTokens.mint(first), agentTokens.mint(second)]
  expect(await authenticate(token)).toEqual({ kind: 'agent', ...first })
  agentTokens.revoke(first.execution_id)
  await expect(authenticate(token)).rejects.toMatchObject({ code: 'invalid_token' })
  expect(await authenticate(other)).toEqual({ kind: 'agent', ...second })
  ended.add(second.execution_id)
  await expect(authenticate(other)).rejects.toMatchObject({ code: 'invalid_token' })
})

test('accepts a one-time code once within two minutes, for twelve hours', async () => {
  await using opened = await openIdentity()
  const { identity, time } = opened
  const code = identity.createLocalCode()
  const session = identity.localSignIn(code)
  expect(session).toMatchObject({ token_type: 'Bearer', expires_in: 43_200 })
  expect(() => identity.localSignIn(code)).toThrow(expect.objectContaining({ code: 'invalid_credentials' }))
  const late = identity.createLocalCode()
  time.now += 120_000
  expect(() => identity.localSignIn(late)).toThrow(expect.objectContaining({ code: 'invalid_credentials' }))
  expect(await identity.authenticate(session.access_token)).toEqual({ kind: 'operator' })
  time.now += 12 * 3_600_000
  await expect(identity.authenticate(session.access_token)).rejects.toMatchObject({ code: 'token_expired' })
})

test('lets the local operator act as the first person after the first registration', async () => {
  await using opened = await openIdentity()
  const { identity } = opened
  const { access_token } = identity.localSignIn(identity.createLocalCode())
  expect(identity.localPrincipal()).toEqual({ kind: 'operator' })
  const owner = await identity.register(person('owner@example.com'), here)
  await identity.register(person('member@example.com'), here)
  const asOwner = { kind: 'user', user_id: owner.user.id, handle: 'owner', is_admin: true, via: 'local' }
  expect([identity.localPrincipal(), await identity.authenticate(access_token)]).toEqual([asOwner, asOwner])
})

/** The spellings of a token that decode to the same bytes or that a lenient reader would take. */
function spellings(token: string): readonly string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const value = alphabet.indexOf(token.at(-1) ?? '')
  const others = [1, 2, 3].map((bits) => token.slice(0, -1) + (alphabet[value ^ bits] ?? ''))
  const [head = '', body = '', signature = ''] = token.split('.')
  const inner = signature === '' ? [] : [`${head}=.${body}.${signature}`, `${head}.${body}=.${signature}`]
  return [...others, ...inner, `${token}=`, `${token}==`, `${token}\n`, ` ${token}`, `${token}.`, `${token}%3D`]
}

test('knows each token by one spelling only', async () => {
  await using opened = await openIdentity()
  const { identity } = opened
  const { user, access_token } = await identity.register(person('owner@example.com'), here)
  const { token } = identity.tokens.create(user.id, lasting('laptop'))
  for (const one of [access_token, token]) {
    const results = spellings(one).map((spelling) => identity.authenticate(spelling))
    const codes = (await Promise.allSettled(results)).map((result) =>
      result.status === 'fulfilled' ? 'accepted' : (result.reason as { code: string }).code,
    )
    expect(codes).toEqual(codes.map(() => 'invalid_token'))
    expect(await identity.authenticate(one)).toMatchObject({ user_id: user.id })
  }
})
