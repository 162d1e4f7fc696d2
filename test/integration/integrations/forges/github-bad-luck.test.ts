import { expect, test } from 'vitest'
import { errorOf, startGithubForge } from '../../../helpers/github-forge.ts'

test('follows a renamed repository, for writes as for reads', async () => {
  await using at = await startGithubForge()
  await at.open()
  at.github.rename(at.repository, 'octo/greetings')
  const { forges, source, options } = at
  expect(await forges.repository(source, options)).toMatchObject({ full_name: 'octo/greetings' })
  expect((await forges.change(source, 1, { title: 'Renamed' }, options)).title).toBe('Renamed')
  expect((await forges.comment(source, { kind: 'pull', number: 1 }, 'Still here.', options)).body).toBe('Still here.')
  at.github.people.commentOnLine(at.github.pull(at.repository, 1), 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  expect(await forges.threads(source, 1, options)).toHaveLength(1)
})

test('says that a repository is archived', async () => {
  await using at = await startGithubForge()
  await at.open()
  const thread = at.github.people.commentOnLine(
    at.github.pull(at.repository, 1),
    'ada',
    { path: 'a.ts', line: 1 },
    'Why?',
  )
  at.repository.archived = true
  const { forges, source, options } = at
  expect((await forges.repository(source, options)).archived).toBe(true)
  expect((await errorOf(forges.comment(source, { kind: 'pull', number: 1 }, 'x', options))).code).toBe('archived')
  expect((await errorOf(forges.merge(source, 1, { method: 'merge', head: 'x' }, options))).code).toBe('archived')
  expect((await errorOf(forges.resolve(source, 1, thread.node_id, options))).code).toBe('archived')
})

test('waits until the limit resets, without asking in the meantime', async () => {
  await using at = await startGithubForge()
  await at.open()
  at.github.counts.remaining = 0
  const now = Date.now()
  const limited = await errorOf(at.forges.read(at.source, 1, at.options))
  expect(limited.code).toBe('rate_limited')
  expect(limited.not_before).toBeGreaterThan(now + 1_700_000)
  const asked = at.github.requests.length
  expect((await errorOf(at.forges.read(at.source, 1, at.options))).code).toBe('rate_limited')
  expect(at.github.requests.length).toBe(asked)
  at.github.counts.remaining = 10
  at.later(1_900_000)
  expect((await at.forges.read(at.source, 1, at.options)).number).toBe(1)
})

test('waits for a secondary limit, which names no time', async () => {
  await using at = await startGithubForge()
  await at.open()
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  at.github.fail(/^POST .*comments$/, { status: 403, body: { message } })
  const limited = await errorOf(at.forges.comment(at.source, { kind: 'pull', number: 1 }, 'x', at.options))
  expect(limited.code).toBe('rate_limited')
  expect(limited.not_before).toBeGreaterThan(Date.now() + 30_000)
  at.later(61_000)
  expect((await at.forges.comment(at.source, { kind: 'pull', number: 1 }, 'x', at.options)).body).toBe('x')
})

test('knows GraphQL’s limits, which come with status 200', async () => {
  await using at = await startGithubForge()
  await at.open()
  const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }]
  at.github.fail(/graphql/, { status: 200, body: { errors }, headers: { 'x-ratelimit-remaining': '0' } })
  const limited = await errorOf(at.forges.threads(at.source, 1, at.options))
  expect(limited.code).toBe('rate_limited')
  expect(limited.not_before).toBeGreaterThan(Date.now() + 1_700_000)
  const secondary = [{ message: 'You have exceeded a secondary rate limit.' }]
  at.later(1_900_000)
  at.github.fail(/graphql/, { status: 200, body: { errors: secondary } })
  const slowed = await errorOf(at.forges.threads(at.source, 1, at.options))
  expect(slowed.code).toBe('rate_limited')
  const asked = at.github.requests.length
  await errorOf(at.forges.threads(at.source, 1, at.options))
  expect(at.github.requests.length).toBe(asked)
})

test.each([
  ['an error of the server', { status: 502, body: null }],
  ['something else than JSON', { status: 200 }],
  ['a page of another program', { status: 200, body: { hello: 'world' } }],
])('calls %s unreachable', async (_what, answer) => {
  await using at = await startGithubForge()
  await at.open()
  at.github.instead = () => answer
  for (const call of [
    () => at.forges.repository(at.source, at.options),
    () => at.forges.read(at.source, 1, at.options),
    () => at.forges.threads(at.source, 1, at.options),
    () => at.forges.comments(at.source, { kind: 'pull', number: 1 }, at.options),
    () => at.forges.checksOf(at.source, 'abc', at.options),
  ]) {
    expect((await errorOf(call())).code).toBe('unreachable')
  }
})

test('reads a pull request although fields of less weight are odd', async () => {
  await using at = await startGithubForge()
  const { there } = await at.open()
  at.github.instead = ({ path }) =>
    path.endsWith('/pulls/1')
      ? {
          status: 200,
          body: {
            number: 1,
            html_url: 'https://github.com/octo/hello/pull/1',
            state: 'open',
            draft: 'no',
            title: 'x',
            body: 7,
            user: null,
            head: { ref: 'greet', sha: there.commit, repo: 3 },
            base: { ref: 'main' },
            mergeable: 'maybe',
            requested_reviewers: 'nobody',
            updated_at: '2026-01-01T00:00:00Z',
          },
        }
      : null
  expect(await at.forges.read(at.source, 1, at.options)).toMatchObject({
    number: 1,
    state: 'open',
    author: 'ghost',
    body: '',
    mergeable: null,
    auto_merge: false,
    head: { repository: null },
  })
})

test('sends GraphQL that GitHub’s published schema knows, and no field that will go', async () => {
  await using at = await startGithubForge({ repository: { allow_auto_merge: true } })
  const { there, pull } = await at.open()
  at.github.protect(at.repository, 'main', { queue: true, approvals: 1 })
  const thread = at.github.people.commentOnLine(there, 'ada', { path: 'a.ts', line: 1 }, 'Why?')
  for (let n = 0; n < 60; n++) at.github.people.answer(thread, 'bob', `${n}`)
  const { forges, source, options } = at
  await forges.change(source, 1, { draft: true }, options)
  await forges.change(source, 1, { draft: false }, options)
  await forges.read(source, 1, options)
  await forges.threads(source, 1, options)
  await forges.reply(source, 1, thread.node_id, 'Mended.', options)
  await forges.resolve(source, 1, thread.node_id, options)
  await forges.mergeWhenReady(source, 1, { method: 'squash', head: pull.head.commit }, options)
  const sent = at.github.requests.filter(({ path }) => path === '/graphql')
  const names = sent.map(
    ({ body }) => /\{\s*(?:repository|node|(\w+))\b/.exec((body as { query: string }).query)?.[1] ?? 'query',
  )
  expect(new Set(names)).toEqual(
    new Set([
      'query',
      'convertPullRequestToDraft',
      'markPullRequestReadyForReview',
      'resolveReviewThread',
      'enqueuePullRequest',
      'enablePullRequestAutoMerge',
    ]),
  )
  expect(at.github.counts.deprecated).toEqual([])
  expect(at.github.counts.invalid).toEqual([])
})

test('stops when it is told to', async () => {
  await using at = await startGithubForge()
  const stop = new AbortController()
  at.github.instead = () => {
    stop.abort()
    return null
  }
  await expect(at.forges.read(at.source, 1, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
})
