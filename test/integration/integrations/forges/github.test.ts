import { expect, test } from 'vitest'
import { sha } from '../../../fakes/forges/github/world.ts'
import { errorOf, startGithubForge } from '../../../helpers/github-forge.ts'

test('reads a repository with its ways to merge', async () => {
  await using at = await startGithubForge({ repository: { allow_merge_commit: false } })
  expect(await at.forges.repository(at.source, at.options)).toEqual({
    full_name: 'octo/hello',
    clone_url: `${at.github.world.web}/octo/hello.git`,
    ssh_url: 'git@127.0.0.1:octo/hello.git',
    default_branch: 'main',
    archived: false,
    may_push: true,
    methods: ['squash', 'rebase'],
  })
})

test('takes ways to merge that a rule forbids from those of the repository', async () => {
  await using at = await startGithubForge()
  at.github.protect(at.repository, 'main', {
    rules: [
      { type: 'required_linear_history' },
      { type: 'pull_request', parameters: { allowed_merge_methods: ['merge', 'squash'] } },
    ],
  })
  expect((await at.forges.repository(at.source, at.options)).methods).toEqual(['squash'])
})

test('opens a pull request with its labels and reviewers, and finds and reads it', async () => {
  await using at = await startGithubForge()
  const { github, forges, source, options, repository } = at
  github.addMember(repository, 'ada', 'write')
  const commit = github.git.commit('octo/hello', 'greet', 'main')
  const opened = await forges.open(
    source,
    at.newPull({ draft: true, labels: ['bot'], reviewers: ['octo', 'ada'] }),
    options,
  )
  expect(opened).toEqual({
    number: 1,
    url: `${github.world.web}/octo/hello/pull/1`,
    state: 'draft',
    title: 'Add a greeting',
    body: 'It greets.',
    author: 'octo',
    head: { commit, repository: 'octo/hello', branch: 'greet' },
    target: 'main',
    mergeable: true,
    merge_commit: null,
    queued: false,
    auto_merge: false,
    updated_at: expect.stringMatching(/^2026-/),
  })
  const there = github.pull(repository, 1)
  expect([...there.labels]).toEqual(['bot'])
  // Its author can't be asked for a review.
  expect([...there.requested]).toEqual(['ada'])
  const head = { repository: 'octo/hello', branch: 'greet' }
  expect(await forges.find(source, head, options)).toMatchObject([{ number: 1, state: 'draft', head: { commit } }])
  expect(await forges.find(source, { ...head, branch: 'other' }, options)).toEqual([])
  expect(await forges.read(source, 1, options)).toMatchObject({ number: 1, state: 'draft', mergeable: true })
})

test('keeps a pull request that was opened although a label or a reviewer is refused', async () => {
  await using at = await startGithubForge()
  at.github.addMember(at.repository, 'ada', 'write')
  at.github.git.commit('octo/hello', 'greet', 'main')
  at.github.fail(/^POST .*\/labels$/, { status: 403, body: { message: 'No.' } })
  const pull = at.newPull({ labels: ['bot'], reviewers: ['stranger', 'ada'] })
  expect(await at.forges.open(at.source, pull, at.options)).toMatchObject({ number: 1, state: 'open' })
  expect([...at.github.pull(at.repository, 1).requested]).toEqual(['ada'])
})

test('opens from a fork by its owner and name', async () => {
  await using at = await startGithubForge()
  const commit = at.github.git.commit('helper/hello-2', 'greet')
  const head = { repository: 'helper/hello-2', branch: 'greet' }
  const opened = await at.forges.open(at.source, at.newPull({ head }), at.options)
  expect(opened.head).toEqual({ commit, ...head })
  expect(at.github.requests.at(-1)?.body).toMatchObject({ head: 'helper:greet', head_repo: 'hello-2' })
  expect(await at.forges.find(at.source, head, at.options)).toMatchObject([{ number: 1 }])
  // A deleted fork leaves the pull request.
  at.github.pull(at.repository, 1).head.repository = null
  expect((await at.forges.read(at.source, 1, at.options)).head).toEqual({ commit, repository: null, branch: 'greet' })
})

test('finds the pull requests of a branch in every state, newest first', async () => {
  await using at = await startGithubForge()
  const { there } = await at.open()
  at.github.people.close(there)
  const second = await at.open()
  await at.github.people.merge(second.there)
  await at.open()
  await at.open('other')
  const found = await at.forges.find(at.source, { repository: 'octo/hello', branch: 'greet' }, at.options)
  expect(found.map(({ number, state }) => [number, state])).toEqual([
    [3, 'open'],
    [2, 'merged'],
    [1, 'closed'],
  ])
})

test('takes nothing for a branch’s own where the server ignores what is asked for', async () => {
  await using at = await startGithubForge()
  await at.open()
  await at.open('other')
  at.github.instead = (request) => {
    if (request.query['head'] === undefined) return null
    const numbers = [1, 2].map((number) => ({
      number,
      html_url: 'https://github.com',
      state: 'open',
      title: 'x',
      head: { ref: number === 1 ? 'greet' : 'other', sha: sha('x'), repo: null },
      base: { ref: 'main' },
      updated_at: '2026-01-01T00:00:00Z',
    }))
    return { status: 200, body: numbers }
  }
  const found = await at.forges.find(at.source, { repository: 'octo/hello', branch: 'greet' }, at.options)
  expect(found.map(({ number }) => number)).toEqual([1])
})

test('says what is wrong with a pull request that can’t be opened', async () => {
  await using at = await startGithubForge()
  await at.open()
  const again = await errorOf(at.forges.open(at.source, at.newPull(), at.options))
  expect(again).toMatchObject({ code: 'refused' })
  expect(again.message).toContain('A pull request already exists for octo:greet.')
  const nowhere = await errorOf(at.forges.open(at.source, at.newPull({ target: 'gone' }), at.options))
  expect(nowhere.message).toContain('base invalid')
})

test('shortens a title to 256 characters and a text to 65,536', async () => {
  await using at = await startGithubForge()
  at.github.git.commit('octo/hello', 'greet', 'main')
  const title = `${'Grüße 👩‍👩‍👧 '.repeat(60)}`
  const body = `<!-- ours -->${'🌲'.repeat(70_000)}<!-- end -->`
  const opened = await at.forges.open(at.source, at.newPull({ title, body }), at.options)
  expect([...opened.title].length).toBeLessThanOrEqual(256)
  expect(opened.title).toMatch(/^Grüße 👩‍👩‍👧.*…$/u)
  // No family is cut in two.
  expect(opened.title.replaceAll(/Grüße|👩‍👩‍👧| |…/gu, '')).toMatch(/^G?r?ü?ß?e?$/)
  expect([...opened.body].length).toBe(65_536)
  expect(opened.body).toMatch(/^<!-- ours -->.*<!-- end -->$/su)
  const changed = await at.forges.change(at.source, 1, { title: 'x'.repeat(300), body: 'y'.repeat(70_000) }, at.options)
  expect([changed.title.length, changed.body.length]).toEqual([256, 65_536])
  expect(
    (await at.forges.comment(at.source, { kind: 'pull', number: 1 }, 'z'.repeat(70_000), at.options)).body.length,
  ).toBe(65_536)
})

test('changes title, text, target and state', async () => {
  await using at = await startGithubForge()
  const { there } = await at.open()
  at.github.git.commit('octo/hello', 'next', 'main')
  const { forges, source, options } = at
  expect(await forges.change(source, 1, { title: 'New', body: 'Text', target: 'next' }, options)).toMatchObject({
    title: 'New',
    body: 'Text',
    target: 'next',
  })
  expect((await forges.change(source, 1, { state: 'closed' }, options)).state).toBe('closed')
  expect((await forges.change(source, 1, { state: 'open' }, options)).state).toBe('open')
  await at.github.git.remove('octo/hello', 'greet')
  expect((await forges.read(source, 1, options)).state).toBe('closed')
  expect((await errorOf(forges.change(source, 1, { state: 'open' }, options))).message).toContain('has been deleted')
  expect(there.state).toBe('closed')
})

test('makes a draft of a pull request and back', async () => {
  await using at = await startGithubForge()
  await at.open()
  const { forges, source, options } = at
  expect((await forges.change(source, 1, { draft: true }, options)).state).toBe('draft')
  expect((await forges.read(source, 1, options)).state).toBe('draft')
  const asked = at.github.requests.length
  expect((await forges.change(source, 1, { draft: true }, options)).state).toBe('draft')
  expect(at.github.requests.slice(asked).map(({ method }) => method)).toEqual(['GET'])
  expect((await forges.change(source, 1, { draft: false, title: 'Ready' }, options)).state).toBe('open')
  expect(await forges.read(source, 1, options)).toMatchObject({ state: 'open', title: 'Ready' })
})

test('says so where the repository has no drafts', async () => {
  await using at = await startGithubForge({ repository: { drafts: false } })
  await at.open('other')
  expect(
    (
      await errorOf(
        at.forges.open(
          at.source,
          at.newPull({ draft: true, head: { repository: 'octo/hello', branch: 'none' } }),
          at.options,
        ),
      )
    ).code,
  ).toBe('refused')
  at.github.git.commit('octo/hello', 'greet', 'main')
  const opening = await errorOf(at.forges.open(at.source, at.newPull({ draft: true }), at.options))
  expect(opening).toMatchObject({ code: 'not_supported' })
  const changing = await errorOf(at.forges.change(at.source, 1, { draft: true }, at.options))
  expect(changing).toMatchObject({ code: 'not_supported' })
})

test('follows the head, and doesn’t take a merge on trial for the merge', async () => {
  await using at = await startGithubForge()
  const { there } = await at.open()
  const read = () => at.forges.read(at.source, 1, at.options)
  expect(await read()).toMatchObject({ merge_commit: null, state: 'open' })
  const moved = at.github.git.commit('octo/hello', 'greet', 'main')
  expect((await read()).head.commit).toBe(moved)
  there.computing = 1
  expect((await read()).mergeable).toBeNull()
  at.github.git.conflicting.add('octo/hello greet')
  expect((await read()).mergeable).toBe(false)
  at.github.people.close(there)
  expect(await read()).toMatchObject({ state: 'closed', merge_commit: null })
  at.github.people.reopen(there)
  const merged = await at.github.people.merge(there)
  expect(await read()).toMatchObject({ state: 'merged', merge_commit: merged })
})

test('writes and lists comments, oldest first, and says who belongs to the repository', async () => {
  await using at = await startGithubForge()
  await at.open()
  const { people } = at.github
  at.github.addMember(at.repository, 'ada', 'write')
  for (let n = 0; n < 120; n++)
    people.commentOn(at.repository, 1, n === 3 ? null : n % 2 === 0 ? 'ada' : 'stranger', `${n}`)
  const written = await at.forges.comment(at.source, { kind: 'pull', number: 1 }, 'Done.', at.options)
  expect(written).toMatchObject({ author: 'octo', is_member: true, body: 'Done.' })
  const comments = await at.forges.comments(at.source, { kind: 'pull', number: 1 }, at.options)
  expect(comments.length).toBe(121)
  expect(comments.slice(0, 4).map(({ author, is_member }) => [author, is_member])).toEqual([
    ['ada', true],
    ['stranger', false],
    ['ada', true],
    ['ghost', false],
  ])
  expect(comments.at(-1)).toEqual(written)
})

test('reads, labels and closes an issue', async () => {
  await using at = await startGithubForge()
  const { forges, source, options } = at
  const issue = at.github.people.openIssue(at.repository, 'ada', 'It is cold')
  await forges.labelIssue(source, issue.number, 'in progress/é', true, options)
  await forges.labelIssue(source, issue.number, 'in progress/é', true, options)
  expect(await forges.issue(source, issue.number, options)).toEqual({ state: 'open', labels: ['in progress/é'] })
  expect([...at.repository.labels]).toEqual(['in progress/é'])
  await forges.labelIssue(source, issue.number, 'in progress/é', false, options)
  // A label that is gone already is off.
  await forges.labelIssue(source, issue.number, 'in progress/é', false, options)
  await forges.closeIssue(source, issue.number, options)
  expect(await forges.issue(source, issue.number, options)).toEqual({ state: 'closed', labels: [] })
  at.github.people.deleteIssue(at.repository, issue.number)
  expect((await errorOf(forges.issue(source, issue.number, options))).code).toBe('not_found')
  expect((await errorOf(forges.labelIssue(source, 99, 'x', false, options))).code).toBe('not_found')
})

test('costs a 304 where nothing has changed', async () => {
  await using at = await startGithubForge()
  const { there } = await at.open()
  await at.forges.read(at.source, 1, at.options)
  const before = at.github.counts.notModified
  expect(await at.forges.read(at.source, 1, at.options)).toMatchObject({ number: 1, title: 'Add a greeting' })
  expect(at.github.counts.notModified).toBe(before + 1)
  at.github.people.retarget(there, 'next')
  expect((await at.forges.read(at.source, 1, at.options)).target).toBe('next')
})

test('names the open pull requests from a branch and into it', async () => {
  await using at = await startGithubForge()
  const { github, forges, source, options } = at
  github.git.commit('octo/hello', 'greet', 'main')
  github.git.commit('octo/hello', 'upper', 'greet')
  await forges.open(source, at.newPull({}), options)
  const head = { repository: 'octo/hello', branch: 'upper' }
  await forges.open(source, at.newPull({ head, target: 'greet' }), options)
  const of = (branch: string, repository = 'octo/hello') => forges.openOf(source, { repository, branch }, options)
  expect([...(await of('greet'))].toSorted()).toEqual([1, 2])
  expect(await of('upper')).toEqual([2])
  expect(await of('greet', 'other/hello')).toEqual([])
  await forges.change(source, 1, { state: 'closed' }, options)
  expect(await of('greet')).toEqual([2])
})
