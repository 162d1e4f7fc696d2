import { expect, test } from 'vitest'
import { neverAborted, refusedByForge as failure, startGiteaJob } from '../../../helpers/forge-job.ts'

const name = 'team/hello'
const options = neverAborted
const start = startGiteaJob

test('describes the repository, with the methods that it allows, the preferred one first', async () => {
  await using at = await start()
  const repository = at.server.repository(name)
  repository.methods = { merge: true, squash: true, rebase: false, rebaseMerge: false, fastForward: false }
  repository.defaultMethod = 'squash'
  expect(await at.forges.repository(at.source, options)).toEqual({
    full_name: name,
    clone_url: `${at.server.url}/${name}.git`,
    ssh_url: `git@127.0.0.1:${name}.git`,
    default_branch: 'main',
    archived: false,
    may_push: true,
    methods: ['squash', 'merge'],
  })
})

test('finds a renamed repository by its redirect, for writes too', async () => {
  await using at = await start()
  at.server.state.renamed.set('team/old', name)
  const source = { ...at.source, repo: 'old' }
  expect(await at.forges.repository(source, options)).toMatchObject({ full_name: name })
  expect(await at.forges.open(source, at.pull, options)).toMatchObject({ number: 1, state: 'open' })
})

test('opens a pull request, with labels that it makes and reviewers that the forge knows', async () => {
  await using at = await start()
  const repository = at.server.repository(name)
  repository.members.set('anna', 'write')
  repository.labels.push({ id: 7, name: 'Bug', color: '#ff0000' })
  const opened = await at.open({ labels: ['bug', 'agents'], reviewers: ['robot', 'nobody', 'anna'] })
  const commit = await at.server.git.head(name, 'feature')
  expect(opened).toEqual({
    number: 1,
    url: `${at.server.url}/${name}/pulls/1`,
    state: 'open',
    title: 'Say hello',
    body: 'It says hello.',
    author: 'robot',
    head: { commit, repository: name, branch: 'feature' },
    target: 'main',
    mergeable: null,
    merge_commit: null,
    queued: false,
    auto_merge: false,
    updated_at: expect.any(String),
  })
  const { labels, pull } = at.people.pull(name, 1)
  expect([...labels].map((id) => repository.labels.find((label) => label.id === id)?.name)).toEqual(['Bug', 'agents'])
  expect(pull.reviews).toMatchObject([{ user: 'anna', state: 'REQUEST_REVIEW' }])
})

test('shortens a title that is too long for the forge', async () => {
  await using at = await start()
  const opened = await at.open({ title: 'word '.repeat(100), draft: true })
  expect(at.people.pull(name, 1).title.length).toBeLessThanOrEqual(255)
  expect(opened.title).toMatch(/^word word .* word…$/)
})

test('opens from a fork', async () => {
  await using at = await start()
  at.server.repository('robot/hello', name)
  const commit = at.server.git.commit('robot/hello', 'feature')
  const opened = await at.open({ head: { repository: 'robot/hello', branch: 'feature' } })
  expect(opened.head).toEqual({ commit, repository: 'robot/hello', branch: 'feature' })
})

test('refuses a second pull request for the same branches in the forge’s words', async () => {
  await using at = await start()
  await at.open()
  const error = await failure(at.open())
  expect(error.code).toBe('refused')
  expect(error.message).toContain('pull request already exists for these targets')
})

test('finds the pull requests of a branch in every state, newest first, also once the branch is gone', async () => {
  await using at = await start()
  at.server.git.commit(name, 'other', 'main')
  await at.open()
  at.people.close(name, 1)
  await at.open({ head: { repository: name, branch: 'other' } })
  await at.open()
  await at.people.merge(name, 3)
  at.server.git.commit(name, 'feature')
  await at.open()
  await at.server.git.remove(name, 'feature')
  const found = await at.forges.find(at.source, at.pull.head, options)
  expect(found.map(({ number, state }) => [number, state])).toEqual([
    [4, 'closed'],
    [3, 'merged'],
    [1, 'closed'],
  ])
  expect(found[0]?.head.branch).toBe('feature')
})

test('finds a pull request on a later page although the server links to its internal name', async () => {
  await using at = await start()
  at.server.state.rootUrl = 'http://gitea.internal:3000'
  await at.open()
  for (let number = 0; number < 60; number++) {
    at.server.git.commit(name, `branch-${number}`, 'main')
    await at.open({ head: { repository: name, branch: `branch-${number}` } })
  }
  const found = await at.forges.find(at.source, at.pull.head, options)
  expect(found.map(({ number }) => number)).toEqual([1])
})

test('opens a draft by a prefix, which its title has not, and which comes and goes', async () => {
  await using at = await start()
  expect(await at.open({ draft: true })).toMatchObject({ state: 'draft', title: 'Say hello' })
  expect(at.people.pull(name, 1).title).toBe('WIP: Say hello')
  const change = (changed: object) => at.forges.change(at.source, 1, changed, options)
  expect(await change({ title: 'Say hi' })).toMatchObject({ state: 'draft', title: 'Say hi' })
  expect(await change({ draft: false })).toMatchObject({ state: 'open', title: 'Say hi' })
  expect(at.people.pull(name, 1).title).toBe('Say hi')
  expect(await change({ draft: true })).toMatchObject({ state: 'draft' })
  at.people.pull(name, 1).title = '[WIP] Say hi'
  expect(await change({ title: 'Hello' })).toMatchObject({ state: 'draft', title: 'Hello' })
  expect(at.people.pull(name, 1).title).toBe('[WIP] Hello')
})

test('knows a draft by the prefix that a server was configured for', async () => {
  await using at = await start()
  await at.open()
  at.server.state.draftPrefixes = ['Draft:']
  at.people.pull(name, 1).title = 'Draft: Say hello'
  expect(await at.forges.read(at.source, 1, options)).toMatchObject({ state: 'draft', title: 'Say hello' })
  at.people.pull(name, 1).title = 'fix: say hello'
  expect(await at.forges.read(at.source, 1, options)).toMatchObject({ state: 'open', title: 'fix: say hello' })
})

test('knows a draft of a server that does not say which are', async () => {
  await using at = await start({ version: '1.20.5' })
  expect(await at.open({ draft: true })).toMatchObject({ state: 'draft', title: 'Say hello' })
})

test('changes text, target and state', async () => {
  await using at = await start()
  await at.open()
  at.server.git.commit(name, 'next', 'main')
  const change = (changed: object) => at.forges.change(at.source, 1, changed, options)
  expect(await change({ body: '', target: 'next' })).toMatchObject({ body: '', target: 'next', title: 'Say hello' })
  expect(await change({ state: 'closed' })).toMatchObject({ state: 'closed' })
  expect(await change({ state: 'open' })).toMatchObject({ state: 'open' })
  expect((await failure(change({ target: 'missing' }))).code).toBe('not_found')
  await at.people.merge(name, 1)
  expect((await failure(change({ state: 'closed' }))).message).toContain('it was already merged')
})

test('does not take a running test for conflicts for conflicts', async () => {
  await using at = await start()
  await at.open()
  at.server.git.commit(name, 'main')
  at.server.state.conflictTestReads = 3
  const read = async () => (await at.forges.read(at.source, 1, options)).mergeable
  expect([await read(), await read(), await read(), await read()]).toEqual([null, null, null, true])
})

test('takes what stays unmergeable for conflicts, but not what has the tip of its target', async () => {
  await using at = await start()
  await at.open()
  at.server.state.conflictTestReads = Infinity
  const read = async () => (await at.forges.read(at.source, 1, options)).mergeable
  expect(await read()).toBeNull()
  at.wait(60_000)
  expect(await read()).toBeNull()
  at.server.state.conflictTestReads = 1
  at.server.git.commit(name, 'main')
  at.server.git.conflicting.add(`${name} feature`)
  expect(await read()).toBeNull()
  at.wait(60_000)
  expect(await read()).toBe(false)
})

test('says no conflicts of a draft, which the forge never calls mergeable', async () => {
  await using at = await start()
  await at.open({ draft: true })
  at.server.git.commit(name, 'main')
  await at.forges.read(at.source, 1, options)
  at.wait(60_000)
  expect((await at.forges.read(at.source, 1, options)).mergeable).toBeNull()
})

test('follows the branch, and what was merged', async () => {
  await using at = await start()
  await at.open()
  const commit = at.server.git.commit(name, 'feature')
  expect((await at.forges.read(at.source, 1, options)).head.commit).toBe(commit)
  const merged = await at.people.merge(name, 1, 'squash')
  expect(await at.forges.read(at.source, 1, options)).toMatchObject({ state: 'merged', merge_commit: merged })
})

test('sees what is stacked on a branch closed once that is deleted, when it is too late to retarget', async () => {
  await using at = await start()
  at.server.git.commit(name, 'upper', 'feature')
  const upper = await at.open({ head: { repository: name, branch: 'upper' }, target: 'feature' })
  await at.server.git.remove(name, 'feature')
  const read = async () => at.forges.read(at.source, upper.number, options)
  expect(await read()).toMatchObject({ state: 'closed', target: 'feature' })
  const change = async (changed: object) => at.forges.change(at.source, upper.number, changed, options)
  expect((await failure(change({ target: 'main' }))).message).toContain('issue is closed')
})

test('reads and writes comments, and knows who may write', async () => {
  await using at = await start()
  await at.open()
  at.server.repository(name).members.set('anna', 'write')
  at.people.comment(name, 1, 'anna', 'Nice.')
  at.people.comment(name, 1, 'stranger', 'Buy this!')
  const written = await at.forges.comment(at.source, { kind: 'pull', number: 1 }, '/copse stop\n<!-- mark -->', options)
  const comments = await at.forges.comments(at.source, { kind: 'pull', number: 1 }, options)
  expect(comments.map(({ author, is_member, body }) => [author, is_member, body])).toEqual([
    ['anna', true, 'Nice.'],
    ['stranger', false, 'Buy this!'],
    ['robot', true, '/copse stop\n<!-- mark -->'],
  ])
  expect(comments.at(-1)).toEqual(written)
})

test('closes issues and labels them, once each', async () => {
  await using at = await start()
  at.people.issue(name, { title: 'Broken', labels: ['bug'] })
  expect(await at.forges.issue(at.source, 1, options)).toEqual({ state: 'open', labels: ['bug'] })
  const label = (on: boolean) => at.forges.labelIssue(at.source, 1, 'in progress', on, options)
  await label(true)
  await label(true)
  expect(at.server.repository(name).labels.length).toBeLessThan(3)
  expect(await at.forges.issue(at.source, 1, options)).toEqual({ state: 'open', labels: ['bug', 'in progress'] })
  await label(false)
  await label(false)
  await at.forges.closeIssue(at.source, 1, options)
  await at.forges.closeIssue(at.source, 1, options)
  expect(await at.forges.issue(at.source, 1, options)).toEqual({ state: 'closed', labels: ['bug'] })
})

test('names the scope that a token lacks, in the words of both forges', async () => {
  for (const version of ['1.26.2', '13.0.2+gitea-1.22.0']) {
    await using at = await start({ version })
    at.server.state.tokens.set(at.server.token, { login: 'robot', scopes: ['write:issue', 'read:repository'] })
    const error = await failure(at.open())
    expect(error).toMatchObject({ code: 'forbidden', right: 'write:repository' })
    expect(error.url).toBe(`${at.server.url}/user/settings/applications`)
  }
})

test('checks a token by reading alone', async () => {
  await using at = await start()
  const check = async () => at.forges.check(at.source, options)
  expect(await check()).toEqual({
    can: {
      checks: 'all',
      logs: true,
      rerun: true,
      reply: true,
      resolve: true,
      draft: true,
      auto_merge: true,
      queue: false,
    },
    rights: [
      { right: expect.stringContaining('write:repository'), needed_for: expect.any(String), state: 'unknown' },
      { right: expect.stringContaining('write:issue'), needed_for: expect.any(String), state: 'unknown' },
      { right: expect.stringContaining('Write access'), needed_for: expect.any(String), state: 'ok' },
    ],
    token_expires_at: null,
  })
  at.server.state.tokens.set(at.server.token, { login: 'robot', scopes: ['read:repository'] })
  at.server.repository(name).members.set('robot', 'read')
  expect((await check()).rights.map(({ state }) => state)).toEqual(['unknown', 'missing', 'missing'])
  at.server.state.tokens.set(at.server.token, { login: 'robot', scopes: ['write:issue'] })
  const without = await check()
  expect(without.can.checks).toBe('none')
  expect(without.rights.map(({ state }) => state)).toEqual(['missing', 'unknown', 'unknown'])
  expect(at.server.requests.every(({ method }) => method === 'GET')).toBe(true)
})

test.each([
  ['1.24.0', { logs: false, rerun: false, resolve: false }],
  ['1.25.3', { logs: true, rerun: false, resolve: false }],
  ['1.27.0+dev-31-g4c4', { logs: true, rerun: true, resolve: true }],
  ['13.0.2+gitea-1.22.0', { logs: false, rerun: false, resolve: false }],
])('knows what version %s can do', async (version, can) => {
  await using at = await start({ version })
  expect((await at.forges.check(at.source, options)).can).toMatchObject(can)
})

test('tells a refused token, a missing repository and an archived one apart, and never tells the token', async () => {
  await using at = await start()
  await at.open()
  at.server.repository(name).archived = true
  at.server.instead = ({ headers, method }) =>
    method === 'POST' ? { status: 423, body: { message: `archived ${headers.authorization ?? ''}` } } : null
  expect((await failure(at.open())).code).toBe('archived')
  at.server.instead = ({ headers }) => ({ status: 422, body: { message: `no ${headers.authorization ?? ''}` } })
  const refused = await failure(at.open())
  expect(refused.code).toBe('refused')
  expect(JSON.stringify([refused.message, refused])).not.toContain(at.server.token)
  at.server.instead = null
  expect((await failure(at.forges.repository({ ...at.source, repo: 'none' }, options))).code).toBe('not_found')
  at.server.state.tokens.clear()
  expect((await failure(at.forges.read(at.source, 1, options))).code).toBe('unauthorized')
})

test('names the open pull requests from a branch and into it', async () => {
  await using at = await start()
  at.server.git.commit(name, 'upper', 'feature')
  await at.open()
  await at.open({ head: { repository: name, branch: 'upper' }, target: 'feature' })
  const of = (branch: string, repository = name) => at.forges.openOf(at.source, { repository, branch }, options)
  expect([...(await of('feature'))].toSorted()).toEqual([1, 2])
  expect(await of('upper')).toEqual([2])
  expect(await of('feature', 'team/fork')).toEqual([])
  at.people.close(name, 1)
  expect(await of('feature')).toEqual([2])
})
