import { expect, test } from 'vitest'
import { neverAborted, refusedByForge } from '../../../helpers/forge-job.ts'
import { path, startGitlabJob as start } from '../../../helpers/gitlab-job.ts'

const onPull = { kind: 'pull', number: 1 } as const

test('describes the project of a group in a group, with its way to merge', async () => {
  await using at = await start()
  const describe = async () => at.forges.repository(at.source, neverAborted)
  expect(await describe()).toEqual({
    full_name: path,
    clone_url: `${at.server.url}/${path}.git`,
    ssh_url: `git@127.0.0.1:${path}.git`,
    default_branch: 'main',
    archived: false,
    may_push: true,
    methods: ['merge', 'squash'],
  })
  expect(at.server.requests[0]?.path).toBe('/api/v4/projects/group%2Fsub%2Fhello')
  at.project.mergeMethod = 'ff'
  at.project.squashOption = 'default_on'
  expect((await describe()).methods).toEqual(['squash', 'rebase'])
  at.project.squashOption = 'always'
  expect((await describe()).methods).toEqual(['squash'])
  at.project.squashOption = 'never'
  at.project.members.set('robot', 20)
  expect(await describe()).toMatchObject({ methods: ['rebase'], may_push: false })
})

test('reads and writes a project that was moved', async () => {
  await using at = await start()
  at.server.state.moved.set('old/hello', at.project.id)
  const source = { ...at.source, owner: 'old' }
  expect(await at.forges.repository(source, neverAborted)).toMatchObject({ full_name: path })
  const opened = await at.forges.open(source, at.pull, neverAborted)
  expect(opened.head.repository).toBe(path)
  expect(await at.forges.change(source, 1, { body: 'New.' }, neverAborted)).toMatchObject({ body: 'New.' })
  await at.forges.comment(source, onPull, 'Done.', neverAborted)
  expect(await at.forges.find(source, { repository: 'old/hello', branch: 'feature' }, neverAborted)).toHaveLength(1)
})

test('opens a merge request with labels, and reviewers that GitLab knows', async () => {
  await using at = await start()
  at.server.state.users.push({ id: 7, username: 'anna' })
  const opened = await at.open({ labels: ['bug', 'agents'], reviewers: ['Anna', 'nobody'] })
  const commit = await at.server.git.head(path, 'feature')
  expect(opened).toEqual({
    number: 1,
    url: `${at.server.url}/${path}/-/merge_requests/1`,
    state: 'open',
    title: 'Say hello',
    body: 'It says hello.',
    author: 'robot',
    head: { commit, repository: path, branch: 'feature' },
    target: 'main',
    mergeable: null,
    merge_commit: null,
    queued: false,
    auto_merge: false,
    updated_at: expect.any(String),
  })
  const { labels, reviewers } = at.people.mergeRequest(path, 1)
  expect([...labels]).toEqual(['bug', 'agents'])
  expect([...reviewers.keys()]).toEqual(['anna'])
})

test('opens from a fork, and finds it there', async () => {
  await using at = await start()
  const fork = at.server.project('robot/hello', at.project)
  const commit = at.server.git.commit('robot/hello', 'feature')
  const head = { repository: 'robot/hello', branch: 'feature' }
  const opened = await at.open({ head })
  expect(opened).toMatchObject({ number: 1, head: { commit, ...head } })
  expect(at.people.mergeRequest(path, 1).source.project).toBe(fork.id)
  await at.open()
  expect((await at.forges.find(at.source, head, neverAborted)).map(({ number }) => number)).toEqual([1])
  expect((await at.forges.find(at.source, at.pull.head, neverAborted)).map(({ number }) => number)).toEqual([2])
  at.server.state.projects.splice(at.server.state.projects.indexOf(fork), 1)
  expect(await at.forges.find(at.source, { ...head, repository: 'no/fork' }, neverAborted)).toEqual([])
})

test('finds the merge requests of a branch in every state, newest first', async () => {
  await using at = await start()
  await at.open()
  at.people.close(path, 1)
  await at.open()
  await at.people.merge(path, 2)
  at.server.git.commit(path, 'feature')
  await at.open({ draft: true })
  const found = await at.forges.find(at.source, at.pull.head, neverAborted)
  expect(found.map(({ number, state }) => [number, state])).toEqual([
    [3, 'draft'],
    [2, 'merged'],
    [1, 'closed'],
  ])
})

test('says what GitLab says of a second merge request, a missing branch and a missing target', async () => {
  await using at = await start()
  await at.open()
  const second = await refusedByForge(at.open())
  expect(second.code).toBe('refused')
  expect(second.message).toContain('Another open merge request already exists for this source branch: !1')
  const gone = { repository: path, branch: 'gone' }
  expect((await refusedByForge(at.open({ head: gone }))).message).toContain('Source branch does not exist')
  const change = at.forges.change(at.source, 1, { target: 'gone' }, neverAborted)
  expect((await refusedByForge(change)).message).toContain('Target branch does not exist')
})

test('opens a draft by a prefix, which its title has not, and which comes and goes', async () => {
  await using at = await start()
  expect(await at.open({ draft: true })).toMatchObject({ state: 'draft', title: 'Say hello' })
  expect(at.people.mergeRequest(path, 1).title).toBe('Draft: Say hello')
  const change = async (changed: object) => at.forges.change(at.source, 1, changed, neverAborted)
  expect(await change({ title: 'Say hi' })).toMatchObject({ state: 'draft', title: 'Say hi' })
  at.people.mergeRequest(path, 1).title = '[Draft] (draft) Say hi'
  expect(await at.read()).toMatchObject({ state: 'draft', title: 'Say hi' })
  expect(await change({ draft: false })).toMatchObject({ state: 'open', title: 'Say hi' })
  expect(at.people.mergeRequest(path, 1).title).toBe('Say hi')
  at.people.mergeRequest(path, 1).title = 'drafty: windows'
  expect(await at.read()).toMatchObject({ state: 'open', title: 'drafty: windows' })
})

test('shortens a title that GitLab refuses for its length', async () => {
  await using at = await start()
  const opened = await at.open({ title: 'word '.repeat(100), draft: true })
  expect(opened.title).toMatch(/^word word .*…$/)
  expect(at.people.mergeRequest(path, 1).title.length).toBeLessThanOrEqual(255)
})

test('changes text, target and state, and does not close what is closed', async () => {
  await using at = await start()
  await at.open()
  at.server.git.commit(path, 'next', 'main')
  const change = async (changed: object) => at.forges.change(at.source, 1, changed, neverAborted)
  expect(await change({ body: '', target: 'next' })).toMatchObject({ body: '', target: 'next', title: 'Say hello' })
  expect(await change({ state: 'closed' })).toMatchObject({ state: 'closed' })
  expect(await change({ state: 'closed' })).toMatchObject({ state: 'closed' })
  expect(await change({ state: 'open' })).toMatchObject({ state: 'open' })
  expect(await change({ state: 'open' })).toMatchObject({ state: 'open' })
  await at.people.merge(path, 1)
  expect((await refusedByForge(change({ state: 'closed' }))).message).toContain('cannot transition')
})

test('keeps commands in its texts text', async () => {
  await using at = await start()
  const text = [
    '/close',
    'See:',
    '/LABEL ~bug',
    '/merge\r',
    '\r/draft',
    '/usr/bin/env node',
    '```',
    '/close',
    '```',
  ].join('\n')
  await at.open({ body: text })
  await at.forges.change(at.source, 1, { body: text }, neverAborted)
  await at.forges.comment(at.source, onPull, text, neverAborted)
  const thread = await at.people.thread(path, 1, 'anna', 'Why?')
  const reply = await at.forges.reply(at.source, 1, thread.id, '/close', neverAborted)
  expect(at.server.state.commands).toEqual([])
  expect(at.people.mergeRequest(path, 1)).toMatchObject({ state: 'opened' })
  const read = await at.read()
  expect(read.body).toBe(text.replaceAll('\r', ''))
  expect(reply.body).toBe('/close')
  const [comment] = await at.forges.comments(at.source, onPull, neverAborted)
  expect(comment?.body).toBe(read.body)
  expect(at.people.mergeRequest(path, 1).description).toContain('\\/close\nSee:\n\\/LABEL ~bug')
  expect(at.people.mergeRequest(path, 1).description).toContain('\n/usr/bin/env node\n')
})

test('tells conflicts from a test that still runs, and from what else a merge waits for', async () => {
  await using at = await start()
  await at.open()
  const mergeable = async () => (await at.read()).mergeable
  expect(await mergeable()).toBeNull()
  expect(await mergeable()).toBe(true)
  at.project.approvalsRequired = 2
  at.people.mergeRequest(path, 1).title = 'Draft: Say hello'
  expect(await mergeable()).toBe(true)
  at.server.git.commit(path, 'main')
  at.server.git.conflicting.add(`${path} feature`)
  expect(await mergeable()).toBeNull()
  expect(await mergeable()).toBe(false)
})

test('counts what must be rebased as not mergeable', async () => {
  await using at = await start()
  at.project.mergeMethod = 'ff'
  await at.open()
  at.server.git.commit(path, 'main')
  await at.read()
  expect((await at.read()).mergeable).toBe(false)
})

test('knows the commit on the target after every way to merge', async () => {
  for (const [mergeMethod, squash] of [
    ['merge', false],
    ['merge', true],
    ['ff', true],
    ['ff', false],
  ] as const) {
    await using at = await start()
    at.project.mergeMethod = mergeMethod
    await at.open()
    at.people.mergeRequest(path, 1).squash = squash
    await at.people.merge(path, 1)
    const commit = await at.server.git.head(path, 'main')
    expect(await at.read()).toMatchObject({ state: 'merged', merge_commit: commit })
  }
})

test('tells comments on a merge request from those on the issue of the same number', async () => {
  await using at = await start()
  await at.open()
  at.people.issue(path, { title: 'Broken' })
  at.project.members.set('anna', 30).set('guest', 10)
  at.people.comment(path, { kind: 'pull', iid: 1 }, 'anna', 'Nice.')
  at.people.comment(path, { kind: 'issue', iid: 1 }, 'guest', 'It is broken.')
  at.people.comment(path, { kind: 'issue', iid: 1 }, 'stranger', 'Buy this!')
  at.people.system(path, 1, 'added 1 commit')
  await at.people.thread(path, 1, 'anna', 'In a thread.')
  const read = async (on: 'pull' | 'issue') => {
    const comments = await at.forges.comments(at.source, { kind: on, number: 1 }, neverAborted)
    return comments.map(({ author, is_member, body }) => [author, is_member, body])
  }
  const written = await at.forges.comment(at.source, { kind: 'issue', number: 1 }, 'Done. <!-- mark -->', neverAborted)
  expect(written).toMatchObject({ author: 'robot', is_member: true })
  expect(await read('pull')).toEqual([['anna', true, 'Nice.']])
  expect(await read('issue')).toEqual([
    ['guest', false, 'It is broken.'],
    ['stranger', false, 'Buy this!'],
    ['robot', true, 'Done. <!-- mark -->'],
  ])
})

test('closes issues and labels them, once each', async () => {
  await using at = await start()
  at.people.issue(path, { title: 'Broken', labels: ['bug'] })
  const read = async () => at.forges.issue(at.source, 1, neverAborted)
  const label = async (on: boolean) => at.forges.labelIssue(at.source, 1, 'in progress', on, neverAborted)
  await label(true)
  await label(true)
  expect(await read()).toEqual({ state: 'open', labels: ['bug', 'in progress'] })
  await label(false)
  await label(false)
  await at.forges.closeIssue(at.source, 1, neverAborted)
  await at.forges.closeIssue(at.source, 1, neverAborted)
  expect(await read()).toEqual({ state: 'closed', labels: ['bug'] })
  expect(at.server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(3)
})

test('checks a token by reading alone, and says when it ends', async () => {
  await using at = await start()
  const check = async () => at.forges.check(at.source, neverAborted)
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
      { right: expect.stringContaining('api'), needed_for: expect.any(String), state: 'ok' },
      { right: expect.stringContaining('Developer'), needed_for: expect.any(String), state: 'ok' },
      { right: expect.stringContaining('pipelines'), needed_for: expect.any(String), state: 'ok' },
    ],
    token_expires_at: '2026-12-01T00:00:00.000Z',
  })
  at.project.trains = true
  at.project.members.set('robot', 10)
  at.server.state.tokens.set(at.server.token, {
    username: 'robot',
    scopes: ['read_api'],
    expires_at: null,
    isExpired: false,
  })
  const less = await check()
  expect(less.can).toMatchObject({ checks: 'none', reply: false, rerun: false, queue: true })
  expect(less.rights.map(({ state }) => state)).toEqual(['missing', 'missing', 'missing'])
  expect(less.token_expires_at).toBeNull()
  at.server.instead = ({ path: asked }) => (asked.endsWith('/self') ? { status: 404, body: {} } : null)
  expect((await check()).rights[0]?.state).toBe('unknown')
  expect(at.server.requests.every(({ method }) => method === 'GET')).toBe(true)
})

test('names the scope that a token lacks', async () => {
  await using at = await start()
  at.server.state.tokens.set(at.server.token, {
    username: 'robot',
    scopes: ['read_api'],
    expires_at: null,
    isExpired: false,
  })
  expect(await refusedByForge(at.open())).toMatchObject({
    code: 'forbidden',
    right: 'api',
    url: `${at.server.url}/-/user_settings/personal_access_tokens`,
  })
})

test('tells an expired token, a missing project and an archived one apart, and never tells the token', async () => {
  await using at = await start()
  await at.open()
  at.project.archived = true
  const comment = async () => at.forges.comment(at.source, onPull, 'Hello.', neverAborted)
  expect((await refusedByForge(comment())).code).toBe('archived')
  at.project.archived = false
  at.server.instead = ({ headers, method }) =>
    method === 'POST' ? { status: 403, body: { message: `403 ${headers.authorization ?? ''}` } } : null
  const refused = await refusedByForge(comment())
  expect(refused.code).toBe('forbidden')
  expect(JSON.stringify([refused.message, refused])).not.toContain(at.server.token)
  at.server.instead = null
  expect((await refusedByForge(at.forges.repository({ ...at.source, repo: 'none' }, neverAborted))).code).toBe(
    'not_found',
  )
  at.server.state.tokens.set(at.server.token, { username: 'robot', scopes: ['api'], expires_at: null, isExpired: true })
  expect((await refusedByForge(at.read())).code).toBe('unauthorized')
})

test('asks for what has not changed with its ETag, and nothing once the limit is reached', async () => {
  await using at = await start()
  await at.open()
  await at.read()
  await at.read()
  await at.read()
  expect(at.server.state.notModified).toBeGreaterThan(0)
  at.server.state.remaining = 1
  await at.read()
  const asked = at.server.requests.length
  const error = await refusedByForge(at.read())
  expect(error.code).toBe('rate_limited')
  expect(error.not_before).toBeGreaterThan(Date.now() + 10_000)
  expect(at.server.requests).toHaveLength(asked)
})

test('names the open merge requests from a branch and into it', async () => {
  await using at = await start()
  at.server.git.commit(path, 'upper', 'feature')
  await at.open()
  await at.open({ head: { repository: path, branch: 'upper' }, target: 'feature' })
  const of = (branch: string, repository = path) => at.forges.openOf(at.source, { repository, branch }, neverAborted)
  expect([...(await of('feature'))].toSorted()).toEqual([1, 2])
  expect(await of('upper')).toEqual([2])
  expect(await of('feature', 'nobody/hello')).toEqual([])
  await at.forges.change(at.source, 1, { state: 'closed' }, neverAborted)
  expect(await of('feature')).toEqual([2])
})
