import { rename } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { repository, startPullRequestJob } from '../../helpers/pull-request-job.ts'

const bonjour = 'echo bonjour > greeting.txt'

test('opens by itself once a forge that failed is back, one pull request', async () => {
  await using at = await startPullRequestJob()
  const { job, forge, git } = at
  let isDown = true
  forge.instead = () => (isDown ? { status: 503, body: 'Down.' } : null)
  const task = await job.task({ title: 'Greet in French' })
  await job.claim(task, await job.agent(bonjour))
  await job.running.taskWhere(task.id, ({ status, entry_barrier }) => status === 'pull_request' && !entry_barrier)
  expect(await git.refs(repository)).not.toHaveProperty('refs/heads/copse')
  isDown = false
  job.running = await job.running.restart()
  const opened = await job.running.taskWhere(task.id, ({ pull_request }) => pull_request !== null)
  expect(opened).toMatchObject({ status: 'pull_request', error_annotation: null, pull_request: { number: 1 } })
})

test('keeps what was known when one part is refused', async () => {
  await using at = await startPullRequestJob()
  const { forge } = at
  const task = await at.atGate(bonjour)
  forge.people.commentOnLine(repository, 1, 'rita', { path: 'greeting.txt', line: 1, body: 'Capital B.' })
  expect((await at.sync(task)).threads).toHaveLength(1)
  forge.instead = ({ path }) =>
    path.endsWith('/reviews') ? { status: 403, body: { message: 'No right to read reviews.' } } : null
  const { head } = await at.get(task)
  await forge.people.status(repository, head, 'ci/build', 'success')
  const partly = await at.sync(task)
  expect(partly).toMatchObject({ threads: [{ path: 'greeting.txt' }], checks: [{ name: 'ci/build', state: 'passed' }] })
  expect(partly.last_error).toMatchObject({ reason: 'forbidden' })
})

test('never overwrites what somebody else pushed to its branch', async () => {
  await using at = await startPullRequestJob()
  const { job, forge, git } = at
  const { client } = job.running
  const task = await at.atGate('echo bonjour >> greeting.txt')
  const { head } = await at.get(task)
  const branch = forge.people.pull(repository, 1).pull.head.branch
  const tree = await git.git(repository, ['rev-parse', `${head}^{tree}`])
  const theirs = await git.git(repository, ['commit-tree', tree, '-p', head, '-m', 'Theirs'])
  await git.git(repository, ['update-ref', `refs/heads/${branch}`, theirs])
  expect(await at.sync(task)).toMatchObject({
    head: theirs,
    waiting_for: expect.arrayContaining(['review']) as unknown,
  })
  await client.call('tasks.feedback', { task_id: task.id, message: 'Again.' })
  const onTop = ['rev-list', '--count', `${theirs}..refs/heads/${branch}`]
  await job.running.taskWhere(task.id, ({ status, version }) => status === 'pull_request' && version > task.version)
  await expect.poll(async () => (await git.git(repository, onTop)).trim()).toBe('1')
  await git.git(repository, ['merge-base', '--is-ancestor', theirs, `refs/heads/${branch}`])
})

test('closes an issue although its label is refused', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const issue = forge.people.issue(repository, { title: 'Greet in French' })
  const write_back = { comment: true, close: true, label: 'in work', follow: false }
  await at.configure({ enabled: true }, { write_back })
  forge.instead = ({ path }) =>
    path.includes('/labels') ? { status: 403, body: { message: 'No right to label.' } } : null
  const task = await job.task({ title: 'Greet in French' })
  await client.call('tasks.link', { task_id: task.id, url: `${forge.url}/${repository}/issues/${issue.number}` })
  await job.claim(task, await job.agent(bonjour))
  await job.running.taskWhere(task.id, ({ pull_request }) => pull_request !== null)
  await forge.people.merge(repository, 2)
  await at.sync(task)
  await job.running.eventually(
    async () => issue.state,
    (state) => state === 'closed',
  )
  expect(issue.comments).toHaveLength(1)
})

test('asks no forge in a loop when a merge can’t be followed', async () => {
  await using at = await startPullRequestJob()
  const { job, forge } = at
  const { client } = job.running
  const task = await at.atGate(bonjour)
  await at.sync(task)
  await rename(job.repository.path, `${job.repository.path}-away`)
  await forge.people.merge(repository, 1)
  await at.sync(task).catch(() => undefined)
  // A change of the settings brings the poll forward.
  await at.configure({ enabled: true })
  const asked = forge.requests.length
  for (let count = 0; count < 200; count++) await client.call('tasks.get', { task_id: task.id })
  expect(forge.requests.length - asked).toBeLessThanOrEqual(3)
  await rename(`${job.repository.path}-away`, job.repository.path)
  await at.sync(task)
  await job.running.taskWhere(task.id, ({ status }) => status === 'done')
})
