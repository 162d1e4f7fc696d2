import { expect, test } from 'vitest'
import {
  createForgeRequests,
  type ForgeDialect,
  type ForgeRequestsOptions,
} from '../../../src-main/integrations/forges/forge-requests.ts'
import { ForgeError, type ForgeSource } from '../../../src-main/ports/forges.ts'
import { startForgeServer, type ForgeReply, type ForgeRequestSeen } from '../../fakes/forges/forge-server.ts'
import { neverAborted, refusedByForge } from '../../helpers/forge-job.ts'

const token = 'forge-token-77aa01'

const dialect: ForgeDialect = {
  label: 'The forge',
  headers: (secret) => ({ authorization: `Bearer ${secret}` }),
  writeGapMs: 0,
  explain: ({ status }) => (status === 418 ? new ForgeError('archived', 'It is a teapot.') : null),
}

async function start(
  answer: (request: ForgeRequestSeen) => ForgeReply | Promise<ForgeReply>,
  options: Partial<ForgeRequestsOptions> = {},
) {
  const server = await startForgeServer(async (request) => answer(request))
  let now = Date.now()
  const requests = createForgeRequests({
    env: { TOKEN: token },
    clock: { now: () => now },
    version: '0.0.0',
    ...options,
  })
  const source: ForgeSource = {
    platform: 'selfhosted',
    base_url: server.url,
    owner: 'team',
    repo: 'hello',
    token_secret_ref: 'TOKEN',
  }
  return {
    server,
    source,
    requests,
    api: requests(source, dialect, neverAborted),
    url: (path: string) => `${server.url}${path}`,
    wait: (ms: number) => void (now += ms),
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  }
}

const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): ForgeReply => ({
  status: 200,
  body,
  headers,
})

test('answers an unchanged page from what it has, and asks with the ETag', async () => {
  await using at = await start(({ headers }) =>
    headers['if-none-match'] === '"one"' ? { status: 304 } : ok({ n: 1 }, { etag: '"one"' }),
  )
  const ask = async () => (await at.api.send({ url: at.url('/a') })).json
  expect([await ask(), await ask(), await ask()]).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
  expect(at.server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"', '"one"'])
})

test('shows no answer of another token', async () => {
  await using at = await start(({ headers }) =>
    headers['if-none-match'] === undefined ? ok({ for: headers.authorization }, { etag: '"one"' }) : { status: 304 },
  )
  await at.api.send({ url: at.url('/a') })
  const other = createForgeRequests({ env: { TOKEN: 'other-token-1' }, clock: { now: Date.now }, version: '0.0.0' })
  const { json } = await other(at.source, dialect, neverAborted).send({ url: at.url('/a') })
  expect(json).not.toEqual({ for: `Bearer ${token}` })
  expect(at.server.requests.at(-1)?.headers['if-none-match']).toBeUndefined()
})

test('sends one request at a time for a host and token', async () => {
  let running = 0
  let most = 0
  const gate = Promise.withResolvers<undefined>()
  await using at = await start(async () => {
    most = Math.max(most, ++running)
    await gate.promise
    running -= 1
    return ok({})
  })
  const asked = [1, 2, 3].map(async (n) => at.requests(at.source, dialect, neverAborted).send({ url: at.url(`/${n}`) }))
  gate.resolve(undefined)
  await Promise.all(asked)
  expect(most).toBe(1)
})

test('keeps a distance between writes, not between reads', async () => {
  const clock = { now: () => performance.now() }
  await using at = await start(() => ok({}), { write_gap_ms: 60, clock })
  const write = () => at.api.send({ method: 'POST', url: at.url('/a'), body: {} })
  const began = performance.now()
  await write()
  await at.api.send({ url: at.url('/b') })
  await write()
  expect(performance.now() - began).toBeGreaterThan(45)
})

test.each([
  [{ 'retry-after': '30' }, 30_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 30) }, 20_000],
  [{ 'ratelimit-remaining': '0', 'ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 30) }, 20_000],
])('asks nothing while the host asked for a pause by %j', async (headers, pause) => {
  await using at = await start(({ path }) => (path === '/limited' ? { status: 429, headers } : ok({})))
  const error = await refusedByForge(at.api.send({ url: at.url('/limited') }))
  expect(error.code).toBe('rate_limited')
  expect(error.not_before).toBeGreaterThan(Date.now() + pause - 5_000)
  expect((await refusedByForge(at.api.send({ url: at.url('/a') }))).code).toBe('rate_limited')
  expect(at.server.requests).toHaveLength(1)
  at.wait(40_000)
  expect((await at.api.send({ url: at.url('/a') })).status).toBe(200)
})

test('takes a refusal that speaks of a limit for one, without headers', async () => {
  await using at = await start(() => ({ status: 403, body: { message: 'You have exceeded a secondary rate limit.' } }))
  expect((await refusedByForge(at.api.send({ url: at.url('/a') }))).code).toBe('rate_limited')
})

test.each([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [410, 'not_found'],
  [418, 'archived'],
  [422, 'refused'],
  [500, 'unreachable'],
  [503, 'unreachable'],
])('reads status %i as %s', async (status, code) => {
  await using at = await start(() => ({ status, body: { message: `Not with ${token}.` } }))
  const error = await refusedByForge(at.api.send({ url: at.url('/a') }))
  expect(error.code).toBe(code)
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(token)
})

test('answers statuses that are expected, and hides the token in answers', async () => {
  await using at = await start(() => ({ status: 409, body: { text: `seen ${token}`, [token]: 1 } }))
  const { status, json } = await at.api.send({ url: at.url('/a'), accept: [409] })
  expect(status).toBe(409)
  expect(JSON.stringify(json)).not.toContain(`seen ${token}`)
})

test('answers no JSON as null', async () => {
  await using at = await start(() => ok('<html>Sign in</html>'))
  expect((await at.api.send({ url: at.url('/a') })).json).toBeNull()
  expect((await refusedByForge(at.api.list(at.url('/a')))).message).toContain('something else than a list')
})

test('follows pages by links, by a total, and by full pages, up to a limit', async () => {
  const pages = (headers: (page: number) => Record<string, string>) => async () => {
    await using at = await start(({ query }) => {
      const page = Number(query['page'] ?? 1)
      const items = page === 1 ? [1, 2] : page === 2 ? [3, 4] : page === 3 ? [5] : []
      return ok(items, headers(page))
    })
    return { all: await at.api.list(at.url('/a?limit=2')), two: await at.api.list(at.url('/a?limit=2'), { pages: 2 }) }
  }
  const expected = { all: [1, 2, 3, 4, 5], two: [1, 2, 3, 4] }
  const next =
    (origin: string) =>
    (page: number): Record<string, string> =>
      page < 3 ? { link: `<${origin}/a?limit=2&page=${page + 1}>; rel="next"` } : { link: '<x>; rel="first"' }
  expect(await pages(next(''))()).toEqual(expected)
  // A server that is known under another name links to that: nobody else gets the token.
  expect(await pages(next('http://forge.internal:3000'))()).toEqual(expected)
  expect(await pages(() => ({ 'x-total-count': '5' }))()).toEqual(expected)
  expect(await pages(() => ({}))()).toEqual(expected)
})

test('says that a variable is not set', async () => {
  await using at = await start(() => ok({}), { env: {} }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'missing_secret' })
    return { [Symbol.asyncDispose]: async () => undefined, server: null }
  })
  expect(at.server).toBeNull()
})

test('says that a repository was moved where a write is sent on by a redirect for reads', async () => {
  await using at = await start(() => ({ status: 301, headers: { location: '/b' } }))
  const error = await refusedByForge(at.api.send({ method: 'POST', url: at.url('/a'), body: {} }))
  expect(error).toMatchObject({ code: 'not_found', message: expect.stringContaining('under another name') })
})

test('cannot ask who is not there', async () => {
  const at = await start(() => ok({}))
  await at.server[Symbol.asyncDispose]()
  expect((await refusedByForge(at.api.send({ url: at.url('/a') }))).code).toBe('unreachable')
})

test('reads the end of a long log from the begin of a line, and holds no more of it', async () => {
  const lines = Array.from({ length: 10_000 }, (_, number) => `line number ${number} of the log\n`).join('')
  await using at = await start(() => ok(lines), { max_bytes: 100_000 })
  const tail = await at.api.tail(at.url('/log'), 1_000)
  expect(tail?.startsWith('line number ')).toBe(true)
  expect(tail?.endsWith('line number 9999 of the log\n')).toBe(true)
  expect(tail?.length).toBeLessThanOrEqual(1_000)
  expect((await refusedByForge(at.api.send({ url: at.url('/log') }))).message).toContain('more than')
})

test('has no log where there is none', async () => {
  await using at = await start(({ path }) => (path === '/empty' ? ok('') : { status: 404 }))
  expect(await at.api.tail(at.url('/log'), 1_000)).toBeNull()
  expect(await at.api.tail(at.url('/empty'), 1_000)).toBeNull()
})

test('follows a log to another place without the token, and hides the token in it', async () => {
  await using store = await startForgeServer(async () => ok(`a log\nwith ${token}\n`))
  await using at = await start(() => ({ status: 302, headers: { location: `${store.url}/blob?signed=1` } }))
  expect(await at.api.tail(at.url('/log'), 1_000)).toMatch(/^a log\nwith (?!forge-token)/)
  expect(store.requests[0]?.headers.authorization).toBeUndefined()
  expect(store.requests[0]?.query).toEqual({ signed: '1' })
})

test('follows a log to no other host without encryption', async () => {
  await using at = await start(() => ({ status: 302, headers: { location: 'http://elsewhere.example/blob' } }))
  expect(await at.api.tail(at.url('/log'), 1_000)).toBeNull()
})

test('says why a log is refused', async () => {
  await using at = await start(() => ({ status: 403, body: { message: 'Must have admin rights.' } }))
  expect(await refusedByForge(at.api.tail(at.url('/log'), 1_000))).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('Must have admin rights.'),
  })
})

test('reads a list that a field of the answer holds', async () => {
  await using at = await start(() => ok({ total_count: 1, items: [1] }))
  expect(await at.api.list(at.url('/a'), { field: 'items' })).toEqual([1])
  expect(await refusedByForge(at.api.list(at.url('/a'), { field: 'others' }))).toMatchObject({ code: 'unreachable' })
  expect(await refusedByForge(at.api.list(at.url('/a')))).toMatchObject({ code: 'unreachable' })
})

test('asks nothing in a pause that an answer’s body asked for', async () => {
  await using at = await start(() => ok({}))
  const until = Date.now() + 600_000
  at.api.pause(until)
  expect(await refusedByForge(at.api.send({ url: at.url('/a') }))).toMatchObject({
    code: 'rate_limited',
    not_before: until,
  })
  expect(at.server.requests).toEqual([])
  at.wait(600_001)
  expect((await at.api.send({ url: at.url('/a') })).status).toBe(200)
})

test('does not keep a read waiting that is sent as a write', async () => {
  await using at = await start(() => ok({}))
  const patient = at.requests(at.source, { ...dialect, writeGapMs: 600_000 }, neverAborted)
  await patient.send({ method: 'POST', url: at.url('/a'), body: {} })
  await patient.send({ method: 'POST', url: at.url('/graphql'), body: {}, isRead: true })
  expect(at.server.requests.length).toBe(2)
})
