import { expect, test } from 'vitest'
import type { MergeMethod } from '../../../../src-main/ports/forges.ts'
import { errorOf, fineGrained, startGithubForge, type GithubForge } from '../../../helpers/github-forge.ts'

const required = { classic: [{ context: 'build', app_id: null }] }

async function startMerge(setup: Parameters<typeof startGithubForge>[0] = {}) {
  const at = await startGithubForge(setup)
  const { pull, there } = await at.open()
  const with_ = (method: MergeMethod, head: string) => ({ method, head })
  const [build] = at.github.people.startWorkflow(at.repository, pull.head.commit, ['build'])
  if (!build) throw new Error('It has no job.')
  return Object.assign(at, {
    there,
    build,
    merge: (method: MergeMethod = 'merge', head = pull.head.commit) =>
      at.forges.merge(at.source, 1, with_(method, head), at.options),
    mergeWhenReady: (method: MergeMethod = 'squash', head = pull.head.commit) =>
      at.forges.mergeWhenReady(at.source, 1, with_(method, head), at.options),
    read: () => at.forges.read(at.source, 1, at.options),
  })
}

const mutationsOf = ({ github }: GithubForge) =>
  github.requests.flatMap(({ path, body }) => {
    const { query = '' } = (body ?? {}) as { readonly query?: string }
    return path.endsWith('graphql') ? (/^mutation.*\{\s*(\w+)\(/s.exec(query)?.[1] ?? []) : []
  })

test.each(['merge', 'squash', 'rebase'] as const)('merges by %s the head that was judged', async (method) => {
  await using at = await startMerge()
  const commit = await at.merge(method)
  expect(commit).toBe(await at.github.git.head('octo/hello', 'main'))
  expect(await at.read()).toMatchObject({ state: 'merged', merge_commit: commit, queued: false })
  expect(at.github.requests.find(({ method: sent }) => sent === 'PUT')?.body).toEqual({
    merge_method: method,
    sha: at.there.commit,
  })
})

test('merges no head that has moved', async () => {
  await using at = await startMerge()
  const head = at.there.commit
  at.github.git.commit('octo/hello', 'greet', 'main')
  expect(await errorOf(at.merge('merge', head))).toMatchObject({ code: 'not_mergeable' })
  expect(await errorOf(at.mergeWhenReady('merge', head))).toMatchObject({ code: 'not_mergeable' })
  expect((await at.read()).state).toBe('open')
})

test.each([
  ['in conflict', /conflicts/],
  ['a draft', /draft/],
  ['without a check that is required', /checks or reviews/],
  ['not worked out', /still works out/],
])('merges none that is %s, although the token may go past the rules', async (what, reason) => {
  await using at = await startMerge()
  if (what === 'a draft') at.there.draft = true
  if (what === 'in conflict') at.github.git.conflicting.add('octo/hello greet')
  if (what.startsWith('without')) at.github.protect(at.repository, 'main', required)
  if (what.startsWith('not')) at.there.computing = 1
  const refused = await errorOf(at.merge())
  expect(refused.code).toBe('not_mergeable')
  expect(refused.message).toMatch(reason)
  expect(at.github.requests.filter(({ method }) => method === 'PUT')).toEqual([])
})

test.each([
  [405, 'Required status check "build" is expected.', 'not_mergeable'],
  [405, 'Base branch was modified. Review and try the merge again.', 'not_mergeable'],
  [409, 'Head branch was modified. Review and try the merge again.', 'not_mergeable'],
  [405, 'Merge commits are not allowed on this repository.', 'refused'],
])('tells GitHub’s reason: %i, %s', async (status, message, code) => {
  await using at = await startMerge()
  at.github.fail(/^PUT/, { status, body: { message } })
  expect(await errorOf(at.merge())).toMatchObject({ code, message: expect.stringContaining(message) })
})

test('does not merge by a method that the repository doesn’t allow', async () => {
  await using at = await startMerge({ repository: { allow_squash_merge: false } })
  expect(await errorOf(at.merge('squash'))).toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Choose another one.'),
  })
  expect(await at.merge()).toMatch(/^[0-9a-f]{40}$/)
})

test('never merges one of GitHub’s own stacks', async () => {
  await using at = await startMerge({ repository: { allow_auto_merge: true } })
  at.there.stack = { number: 5, position: 2, size: 2 }
  expect((await errorOf(at.merge())).code).toBe('not_supported')
  expect((await errorOf(at.mergeWhenReady())).code).toBe('not_supported')
  expect(at.github.requests.filter(({ method }) => method === 'PUT')).toEqual([])
  expect(mutationsOf(at)).toEqual([])
})

test('has GitHub merge once it may, with the method and the head that was judged', async () => {
  await using at = await startMerge({ repository: { allow_auto_merge: true } })
  at.github.protect(at.repository, 'main', required)
  expect(await at.mergeWhenReady()).toBe('auto_merge')
  expect(await at.read()).toMatchObject({ state: 'open', auto_merge: true, queued: false })
  expect(at.there.auto_merge).toEqual({ method: 'squash', by: 'octo' })
  expect(await at.mergeWhenReady()).toBe('auto_merge')
  expect(mutationsOf(at)).toEqual(['enablePullRequestAutoMerge'])
  expect(at.github.requests.findLast(({ path }) => path === '/graphql')?.body).toMatchObject({
    variables: { method: 'SQUASH', head: at.there.commit },
  })
  await at.github.people.finish(at.build, 'success')
  expect(await at.read()).toMatchObject({ state: 'merged', auto_merge: false })
})

test('has no auto-merge where nothing is waited for, and doesn’t merge instead', async () => {
  await using at = await startMerge({ repository: { allow_auto_merge: true } })
  expect(await errorOf(at.mergeWhenReady())).toMatchObject({ code: 'not_supported' })
  at.github.protect(at.repository, 'main', required)
  await at.github.people.finish(at.build, 'success')
  const refused = await errorOf(at.mergeWhenReady())
  expect(refused).toMatchObject({ code: 'not_supported', message: expect.stringContaining('nothing to wait for') })
  expect((await at.read()).state).toBe('open')
})

test('has no auto-merge where the repository doesn’t allow it', async () => {
  await using at = await startMerge()
  at.github.protect(at.repository, 'main', required)
  expect(await errorOf(at.mergeWhenReady())).toMatchObject({
    code: 'not_supported',
    message: expect.stringContaining('Allow it in its settings.'),
  })
})

test('has auto-merge at a server that doesn’t bind it to a head', async () => {
  await using at = await startMerge({ isEnterprise: true, repository: { allow_auto_merge: true } })
  at.github.protect(at.repository, 'main', required)
  expect(await at.mergeWhenReady('rebase')).toBe('auto_merge')
  expect(at.there.auto_merge?.method).toBe('rebase')
  expect(mutationsOf(at)).toEqual(['enablePullRequestAutoMerge', 'enablePullRequestAutoMerge'])
})

test('puts a pull request into the queue without a method, bound to its head', async () => {
  await using at = await startMerge({ token: fineGrained })
  at.github.protect(at.repository, 'main', { ...required, queue: true })
  await at.github.people.finish(at.build, 'success')
  expect(await at.mergeWhenReady()).toBe('queued')
  expect(await at.read()).toMatchObject({ queued: true, auto_merge: false, state: 'open' })
  expect(await at.mergeWhenReady()).toBe('queued')
  expect(mutationsOf(at)).toEqual(['enqueuePullRequest'])
  const sent = at.github.requests.find(({ body }) => JSON.stringify(body).includes('enqueuePullRequest'))?.body
  expect(sent).toMatchObject({ variables: { id: at.there.node_id, head: at.there.commit } })
  expect(JSON.stringify(sent)).not.toContain('ethod')
  at.github.people.throwOutOfQueue(at.there)
  expect((await at.read()).queued).toBe(false)
  await at.mergeWhenReady()
  const merged = await at.github.people.mergeFromQueue(at.there)
  expect(await at.read()).toMatchObject({ state: 'merged', merge_commit: merged, queued: false })
})

test('leaves a pull request that may not enter the queue yet to auto-merge, or tells the queue’s reason', async () => {
  await using at = await startMerge({ repository: { allow_auto_merge: true } })
  at.github.protect(at.repository, 'main', { ...required, queue: true })
  expect(await at.mergeWhenReady()).toBe('auto_merge')
  expect(mutationsOf(at)).toEqual(['enqueuePullRequest', 'enablePullRequestAutoMerge'])
  at.there.auto_merge = null
  at.repository.allow_auto_merge = false
  const refused = await errorOf(at.mergeWhenReady())
  expect(refused).toMatchObject({
    code: 'not_mergeable',
    message: expect.stringContaining('Required status check "build" is expected.'),
  })
})

test('merges nothing past a queue', async () => {
  await using at = await startMerge()
  at.github.protect(at.repository, 'main', { queue: true })
  expect(await errorOf(at.merge())).toMatchObject({ code: 'not_mergeable', message: expect.stringContaining('queue') })
  expect((await at.read()).state).toBe('open')
})

test('finds the queue of a ruleset where GraphQL tells the token nothing of it', async () => {
  await using at = await startMerge({ token: fineGrained })
  at.github.protect(at.repository, 'main', { queue: true, rules: [{ type: 'merge_queue' }] })
  at.github.instead = ({ body }) =>
    JSON.stringify(body).includes('mergeQueue(branch')
      ? {
          status: 200,
          body: {
            data: { repository: null },
            errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by personal access token' }],
          },
        }
      : null
  expect(await at.mergeWhenReady()).toBe('queued')
  expect((await at.read()).queued).toBe(true)
})

test('knows no queue at a server without one', async () => {
  await using at = await startMerge({ isEnterprise: true })
  expect((await at.read()).queued).toBe(false)
  const from = at.github.requests.length
  expect((await at.read()).queued).toBe(false)
  expect(at.github.requests.slice(from).map(({ path }) => path)).toEqual(['/api/v3/repos/octo/hello/pulls/1'])
})
