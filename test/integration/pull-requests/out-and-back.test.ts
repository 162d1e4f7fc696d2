import { expect, test } from 'vitest'
import { repository, startPullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

const bonjour = 'echo bonjour > greeting.txt'

test('takes a task from the claim to the merge at the forge, and the base here follows', async () => {
  await using at = await startPullRequestJob()
  const { job, forge, git } = at
  const task = await at.atGate(bonjour)
  expect(task).toMatchObject({ error_annotation: null, pull_request: { number: 1, state: 'open' } })
  const opened = await at.get(task)
  const branch = forge.people.pull(repository, 1)
  expect(branch).toMatchObject({ title: 'Greet in French', body: expect.stringContaining('Say bonjour.') as string })
  expect(await git.git(repository, ['show', `${opened.head}:greeting.txt`])).toBe('bonjour')

  const early = { task_id: task.id, status: 'done', version: task.version }
  expect(await refused(job.running.client.call('tasks.transition', early))).toMatchObject({ code: 'pull_request_open' })

  await forge.people.status(repository, opened.head, 'ci/build', 'success')
  expect(await at.sync(task)).toMatchObject({ checks: [{ name: 'ci/build', state: 'passed' }], waiting_for: [] })
  const merged = await job.running.client.call('pull_requests.merge', { task_id: task.id })
  expect(merged).toMatchObject({ state: 'merged', waiting_for: [] })

  const done = await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(done).toMatchObject({ pull_request: { number: 1, state: 'merged' }, error_annotation: null })
  expect(await job.repository.git(['rev-parse', 'main'])).toBe(await git.git(repository, ['rev-parse', 'main']))
  expect((await job.history(task.id)).at(-1)).toBe('pull_request > done by system')
})

test('sends nothing for a project that did not switch it on', async () => {
  await using at = await startPullRequestJob({ enabled: false })
  const task = await at.atGate(bonjour)
  expect(task.error_annotation).toMatchObject({ message: expect.stringContaining('switched off') as string })
  expect(at.forge.requests).toEqual([])
  expect(at.git.requests).toEqual([])
})

test('follows a merge and a closing by others, and what a person chooses then', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const [one, other] = [await at.atGate(bonjour), await at.atGate('echo ciao > other.txt')]
  await forge.people.merge(repository, 1, 'squash')
  expect(await at.sync(one)).toMatchObject({ state: 'merged' })
  await job.running.taskWhere(one.id, ({ status }) => status === 'done')

  forge.people.close(repository, 2)
  expect(await at.sync(other)).toMatchObject({ state: 'closed' })
  const closed = await client.call('tasks.get', { task_id: other.id })
  expect(closed.error_annotation).toMatchObject({
    type: 'pull_request_closed',
    recovery_actions: ['reopen_pull_request', 'new_pull_request'],
  })
  const { task: reopened } = await client.call('tasks.recover', { task_id: other.id, action: 'reopen_pull_request' })
  expect(reopened).toMatchObject({ status: 'pull_request', error_annotation: null, pull_request: { state: 'open' } })

  forge.people.close(repository, 2)
  await at.sync(other)
  const { task: renewed } = await client.call('tasks.recover', { task_id: other.id, action: 'new_pull_request' })
  expect(renewed).toMatchObject({ error_annotation: null, pull_request: { number: 3, state: 'open' } })
})

test('keeps work that a merge at the forge lacks', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate(bonjour)
  const { path } = await client.call('tasks.workspace', { task_id: task.id })
  await job.repository.git(['-C', path, 'commit', '--allow-empty', '--quiet', '-m', 'Late'])
  await forge.people.merge(repository, 1)
  await at.sync(task)
  const told = await client.call('tasks.get', { task_id: task.id })
  expect(told).toMatchObject({ status: 'pull_request', error_annotation: { type: 'pull_request_merged' } })
  await client.call('tasks.recover', { task_id: task.id, action: 'finish' })
  await job.running.taskWhere(task.id, ({ status }) => status === 'done')
})

test('asks before it merges: red checks, open threads and drafts are not merged', async () => {
  await using at = await startPullRequestJob({ draft: true })
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate(bonjour)
  const { head } = await at.get(task)
  await forge.people.status(repository, head, 'ci/build', 'failure')
  forge.people.commentOnLine(repository, 1, 'rita', { path: 'greeting.txt', line: 1, body: 'Capital B.' })
  const refusal = await refused(client.call('pull_requests.merge', { task_id: task.id }))
  expect(refusal).toMatchObject({ code: 'not_mergeable' })
  expect(refusal.details?.['waiting_for']).toEqual(expect.arrayContaining(['checks', 'threads', 'draft']))
  const { threads } = await at.get(task)
  expect(threads).toMatchObject([
    { path: 'greeting.txt', line: 1, side: 'new', comments: [{ author: 'rita', ours: false }] },
  ])
  expect(await client.call('pull_requests.ready', { task_id: task.id })).toMatchObject({ state: 'open' })
})

test('says what a refused push needs, and pushes once it may', async () => {
  await using at = await startPullRequestJob()
  const { job, git } = at
  await git.hook(repository, 'pre-receive', 'echo "Not allowed to push to protected branch"; exit 1')
  const task = await at.atGate(bonjour)
  expect(task).toMatchObject({
    status: 'pull_request',
    pull_request: null,
    error_annotation: { recovery_actions: ['retry_hook'] },
  })
  await git.hook(repository, 'pre-receive', 'exit 0')
  await job.running.client.call('tasks.recover', { task_id: task.id, action: 'retry_hook' })
  await job.running.taskWhere(task.id, (one) => one.pull_request !== null && one.error_annotation === null)
})
