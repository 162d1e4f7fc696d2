import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'
import { refused } from '../../helpers/refusal.ts'

const bonjour = 'echo bonjour > greeting.txt'
const stateThere = ({ forge }: PullRequestJob, number: number) => forge.people.pull(repository, number).state

/** Lets every change of a pull request fail at the forge, as long as the returned switch is on. */
function failChanges({ forge }: PullRequestJob) {
  const down = { on: true }
  forge.instead = ({ method, path }) =>
    down.on && method === 'PATCH' && path.includes('/pulls/') ? { status: 503, body: 'Down.' } : null
  return down
}

test('leaves a pull request open when its task is cancelled, archived or deleted', async () => {
  await using at = await startPullRequestJob({ auto_merge: true })
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  await client.call('tasks.cancel', { task_id: task.id })
  await client.call('tasks.archive', { task_id: task.id })
  const { head } = await at.get(task)
  await at.forge.people.status(repository, head, 'ci/build', 'success')
  // What was given up is not merged either.
  expect((await at.sync(task)).state).toBe('open')
  await client.call('tasks.delete', { task_id: task.id })
  expect(stateThere(at, 1)).toBe('open')
})

test.each(['tasks.cancel', 'tasks.archive'] as const)('closes it with close_pull_request: %s', async (name) => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  await client.call(name, { task_id: task.id, close_pull_request: true })
  const ended = await at.job.running.taskWhere(task.id, ({ pull_request }) => pull_request?.state === 'closed')
  expect(stateThere(at, 1)).toBe('closed')
  await at.sync(task)
  expect(ended.error_annotation).toBeNull()
  expect((await client.call('tasks.get', { task_id: task.id })).error_annotation).toBeNull()
})

test('closes it after a restart, when the forge failed at that moment', async () => {
  await using at = await startPullRequestJob()
  const { job } = at
  const task = await at.atGate(bonjour)
  const down = failChanges(at)
  const answer = await job.running.client.call('tasks.cancel', { task_id: task.id, close_pull_request: true })
  expect(answer.task).toMatchObject({ status: 'cancelled', pull_request: { state: 'open' } })
  down.on = false
  job.running = await job.running.restart()
  await job.running.taskWhere(task.id, ({ pull_request }) => pull_request?.state === 'closed')
  expect(stateThere(at, 1)).toBe('closed')
})

test('keeps it open when the task is back before the forge took the closing', async () => {
  await using at = await startPullRequestJob()
  const { job } = at
  const task = await at.atGate(bonjour)
  const down = failChanges(at)
  await job.running.client.call('tasks.archive', { task_id: task.id, close_pull_request: true })
  await job.running.client.call('tasks.unarchive', { task_id: task.id })
  down.on = false
  job.running = await job.running.restart()
  // The wish is settled before the forge is asked for more.
  const pull = await job.running.client.call('pull_requests.sync', { task_id: task.id })
  expect(pull.state).toBe('open')
  expect(stateThere(at, 1)).toBe('open')
})

test('closes it before the task is deleted, and keeps the task when the forge fails', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  const down = failChanges(at)
  const request = { task_id: task.id, close_pull_request: true }
  expect(await refused(client.call('tasks.delete', request))).toMatchObject({
    code: 'external_sync_failed',
    details: { reason: 'unreachable' },
  })
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({ pull_request: { state: 'open' } })
  down.on = false
  await client.call('tasks.delete', request)
  expect(stateThere(at, 1)).toBe('closed')
  expect(await refused(client.call('tasks.get', { task_id: task.id }))).toMatchObject({ code: 'not_found' })
})

test('is nothing for a run, and nothing where pull requests are switched off', async () => {
  await using at = await startPullRequestJob()
  const { job } = at
  const { client } = job.running
  const task = await at.atGate(bonjour)
  const worker = await job.task({ title: 'Another' })
  const [token, hold] = [join(job.repository.beside, 'token'), join(job.repository.beside, 'hold')]
  const agent = await job.agent(
    `printenv SVC_API_TOKEN > '${token}'; while [ ! -e '${hold}' ]; do sleep 0.05; done`,
    'Holding',
  )
  await job.claim(worker, agent)
  const text = await job.running.eventually(
    () => readFile(token, 'utf8').catch(() => ''),
    (read) => read.trim() !== '',
  )
  const run = job.running.clientWith(text.trim())
  const own = { task_id: worker.id, close_pull_request: true }
  expect(await refused(run.call('tasks.cancel', own))).toMatchObject({ code: 'humans_only' })
  await client.call('tasks.cancel', { task_id: worker.id })

  await at.configure({ enabled: false })
  const request = { task_id: task.id, close_pull_request: true }
  expect(await refused(client.call('tasks.cancel', request))).toMatchObject({ code: 'pull_requests_disabled' })
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('pull_request')
})
