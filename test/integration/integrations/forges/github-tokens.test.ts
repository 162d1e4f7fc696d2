import { expect, test } from 'vitest'
import { errorOf, fineGrained, secret, startGithubForge, type GithubForge } from '../../../helpers/github-forge.ts'

const check = (at: GithubForge) => at.forges.check(at.source, at.options)

/** The states of rights by the first word of each. */
async function rightsOf(at: GithubForge) {
  const { rights } = await check(at)
  return rights.map(({ right, state }) => `${right.split(/[:(]/)[0]?.trim()} ${state}`)
}

test('finds a classic token’s rights in its scopes, by reads alone', async () => {
  await using at = await startGithubForge({ repository: { allow_auto_merge: true } })
  const { can, rights, token_expires_at } = await check(at)
  expect(can).toEqual({
    checks: 'all',
    logs: true,
    rerun: true,
    reply: true,
    resolve: true,
    draft: null,
    auto_merge: true,
    queue: false,
  })
  expect(rights.map(({ state }) => state)).toEqual(Array(8).fill('ok'))
  expect(rights.map(({ right }) => right)).toContain('Pull requests: read and write (fine-grained) or repo (classic)')
  expect(token_expires_at).toBeNull()
  const writes = at.github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql')
  expect(writes).toEqual([])
  const queries = at.github.requests.filter(({ path }) => path === '/graphql')
  expect(queries.some(({ body }) => JSON.stringify(body).includes('mutation'))).toBe(false)
})

test('tells what a classic token and its account lack', async () => {
  await using at = await startGithubForge({ token: { scopes: ['repo'] } })
  expect(await rightsOf(at)).toContain('Workflows missing')
  at.repository.roles.set('octo', 'read')
  expect(await rightsOf(at)).toEqual([
    'Metadata ok',
    'Pull requests ok',
    'Contents missing',
    'Issues ok',
    'repo ok',
    'Commit statuses ok',
    'Actions missing',
    'Workflows missing',
  ])
})

test('tells a classic token without a scope for a private repository', async () => {
  await using at = await startGithubForge({ token: { scopes: ['gist'] } })
  expect(await errorOf(check(at))).toMatchObject({
    code: 'forbidden',
    right: 'repo (classic)',
    url: `${at.github.world.web}/settings/tokens`,
  })
})

test('lets public_repo do for a public repository', async () => {
  await using at = await startGithubForge({ token: { scopes: ['public_repo'] }, repository: { private: false } })
  expect((await rightsOf(at)).filter((right) => right.endsWith('missing'))).toEqual(['Workflows missing'])
  expect((await check(at)).can.draft).toBe(true)
})

test('probes what a fine-grained token may read, and says what only a write would tell', async () => {
  await using at = await startGithubForge({ token: fineGrained })
  const { can, token_expires_at } = await check(at)
  expect(can).toMatchObject({ checks: 'some', logs: true, rerun: null, reply: null, resolve: null, queue: false })
  expect(token_expires_at).toBe('2026-12-01T08:00:00.000Z')
  expect(await rightsOf(at)).toEqual([
    'Metadata ok',
    'Pull requests unknown',
    'Contents unknown',
    'Issues unknown',
    'repo missing',
    'Commit statuses ok',
    'Actions unknown',
    'Workflows unknown',
  ])
  at.token.permissions = { metadata: 'read', contents: 'read' }
  expect(await rightsOf(at)).toEqual([
    'Metadata ok',
    'Pull requests missing',
    'Contents unknown',
    'Issues missing',
    'repo missing',
    'Commit statuses missing',
    'Actions missing',
    'Workflows unknown',
  ])
  expect((await check(at)).can).toMatchObject({
    checks: 'none',
    logs: false,
    rerun: false,
    reply: false,
    resolve: false,
  })
})

test('reads when a token ends', async () => {
  await using at = await startGithubForge({ token: { expires: '2026-12-01 10:00:00 UTC' } })
  expect((await check(at)).token_expires_at).toBe('2026-12-01T10:00:00.000Z')
})

test('knows a queue, and none at an older server', async () => {
  await using at = await startGithubForge()
  at.github.protect(at.repository, 'main', { queue: true })
  expect((await check(at)).can.queue).toBe(true)
  await using older = await startGithubForge({ isEnterprise: true })
  expect((await check(older)).can).toMatchObject({ checks: 'all', queue: false })
})

test('checks a token at an empty repository', async () => {
  await using at = await startGithubForge({ token: fineGrained })
  await at.github.git.remove('octo/hello', 'main')
  at.github.fail(/check-runs|status/, { status: 409, body: { message: 'Git Repository is empty.' } }, 9)
  expect(await rightsOf(at)).toContain('Commit statuses ok')
})

test.each([
  ['a token that is revoked', { revoked: true }, { code: 'unauthorized' }],
  [
    'a token that single sign-on keeps out',
    { sso: 'https://github.com/orgs/octo/sso?authorization_request=A1' },
    { code: 'forbidden', right: 'single sign-on', url: 'https://github.com/orgs/octo/sso?authorization_request=A1' },
  ],
  ['a token that names another page for single sign-on', { sso: 'javascript:alert(1)' }, { code: 'forbidden' }],
] as const)('tells %s', async (_what, token, wanted) => {
  await using at = await startGithubForge({ token })
  expect(await errorOf(at.forges.repository(at.source, at.options))).toMatchObject(wanted)
})

test('tells by GraphQL too that single sign-on keeps a token out', async () => {
  await using at = await startGithubForge()
  await at.open()
  at.token.sso = 'https://github.com/orgs/octo/sso'
  expect(await errorOf(at.forges.threads(at.source, 1, at.options))).toMatchObject({
    code: 'forbidden',
    right: 'single sign-on',
  })
})

test('names the permission that a fine-grained token lacks', async () => {
  await using at = await startGithubForge({
    token: { ...fineGrained, permissions: { metadata: 'read', contents: 'write' } },
  })
  at.github.git.commit('octo/hello', 'greet', 'main')
  expect(await errorOf(at.forges.open(at.source, at.newPull(), at.options))).toMatchObject({
    code: 'forbidden',
    right: 'Pull requests: read and write',
    url: `${at.github.world.web}/settings/personal-access-tokens`,
  })
  expect(await errorOf(at.forges.closeIssue(at.source, 1, at.options))).toMatchObject({
    right: 'Issues: read and write or Pull requests: read and write',
  })
})

test('says that a token is missing before it asks', async () => {
  await using at = await startGithubForge({ requests: { env: {} } })
  expect((await errorOf(check(at))).code).toBe('missing_secret')
  expect(at.github.requests).toEqual([])
})

test('puts the token into no error and no answer', async () => {
  await using at = await startGithubForge()
  const echo = { message: `Bad ${secret}`, errors: [{ message: `No ${secret}` }, `${secret}`], title: secret }
  for (const status of [400, 401, 403, 404, 405, 409, 410, 422, 429, 451, 500]) {
    at.github.instead = () => ({ status, body: echo })
    for (const call of [
      () => at.forges.read(at.source, 1, at.options),
      () => at.forges.open(at.source, at.newPull(), at.options),
      () => at.forges.merge(at.source, 1, { method: 'merge', head: 'x' }, at.options),
      () => at.forges.resolve(at.source, 1, 'x', at.options),
      () => at.forges.log(at.source, '1', at.options),
    ]) {
      const told = await call().then(String, (error: unknown) =>
        JSON.stringify(error, Object.getOwnPropertyNames(error)),
      )
      expect(told).not.toContain(secret)
    }
    at.later(86_400_000)
  }
  const errors = [{ type: 'UNPROCESSABLE', message: `No ${secret}` }]
  at.github.instead = () => ({ status: 200, body: { data: null, errors } })
  const refused = await errorOf(at.forges.resolve(at.source, 1, 'x', at.options))
  expect(refused.message).toContain('No [redacted]')
})
