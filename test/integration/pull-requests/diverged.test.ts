import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { pushAsRita, repository, startPullRequestJob, type PullRequestJob } from '../../helpers/pull-request-job.ts'

const bonjour = 'echo bonjour > greeting.txt'

/** Somebody else pushes a file to a task's branch, on top of what is there or, with `from`, of that branch. */
async function pushToTask(at: PullRequestJob, task: Task, file: string, from?: string): Promise<string> {
  const { branch } = await at.job.running.client.call('tasks.workspace', { task_id: task.id })
  return await pushAsRita(at, branch, file, { from: from ?? branch })
}

async function workOf(at: PullRequestJob, task: Task) {
  const { path } = await at.job.running.client.call('tasks.workspace', { task_id: task.id })
  const git = async (...args: string[]) => (await at.job.repository.git(['-C', path, ...args])).trim()
  return { head: await git('rev-parse', 'HEAD'), files: (await git('ls-files')).split('\n'), git }
}

const rescuesOf = async (at: PullRequestJob, task: Task) =>
  (await at.job.running.client.call('rescues.of_task', { task_id: task.id })).items

test('takes what others pushed on top into the worktree, and finishes with their merge', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  const theirs = await pushToTask(at, task, 'rita.txt')
  expect(await at.sync(task)).toMatchObject({
    head: theirs,
    waiting_for: expect.arrayContaining(['review']) as unknown,
  })
  const work = await workOf(at, task)
  expect(work).toMatchObject({ head: theirs, files: expect.arrayContaining(['greeting.txt', 'rita.txt']) as unknown })
  expect(await work.git('status', '--short')).toBe('')
  expect(await rescuesOf(at, task)).toEqual([])
  const { items: notifications } = await client.call('notifications.list', {})
  expect(notifications.filter(({ body }) => body?.includes('Others pushed to #1') === true)).toHaveLength(1)
  await at.forge.people.merge(repository, 1)
  await at.sync(task)
  await at.job.running.taskWhere(
    task.id,
    ({ status, error_annotation }) => status === 'done' && error_annotation === null,
  )
})

test('asks a person where both sides have commits, and takes theirs after a rescue', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  const { head: ours } = await workOf(at, task)
  const theirs = await pushToTask(at, task, 'rita.txt', 'main')
  await at.sync(task)
  const told = await client.call('tasks.get', { task_id: task.id })
  expect(told.error_annotation).toMatchObject({
    type: 'pull_request_diverged',
    recovery_actions: ['take_theirs', 'keep_ours'],
  })
  expect((await workOf(at, task)).head).toBe(ours)
  await client.call('tasks.recover', { task_id: task.id, action: 'take_theirs' })
  const work = await workOf(at, task)
  expect(work.head).toBe(theirs)
  expect(work.files).not.toContain('greeting.txt')
  expect(await rescuesOf(at, task)).toMatchObject([{ commit: ours }])
  await at.sync(task)
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({ error_annotation: null })
})

test('keeps ours over theirs with a lease, and keeps theirs as a rescue', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  const { head: ours } = await workOf(at, task)
  const theirs = await pushToTask(at, task, 'rita.txt', 'main')
  await at.sync(task)
  await client.call('tasks.recover', { task_id: task.id, action: 'keep_ours' })
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({ error_annotation: null })
  expect(await at.sync(task)).toMatchObject({ head: ours })
  expect((await workOf(at, task)).head).toBe(ours)
  expect(await rescuesOf(at, task)).toMatchObject([{ commit: theirs }])
})

test('asks at the gate where the branch at the forge belongs to others, before anything is replaced', async () => {
  await using at = await startPullRequestJob()
  const { client } = at.job.running
  const task = await at.atGate(bonjour)
  const theirs = await pushToTask(at, task, 'rita.txt', 'main')
  // The next round pushes before a poll has told of them.
  await client.call('tasks.transition', {
    task_id: task.id,
    status: 'in_progress',
    version: task.version,
    reason: 'Say it twice.',
  })
  const again = await at.job.running.taskWhere(
    task.id,
    ({ status, error_annotation }) => status === 'pull_request' && error_annotation !== null,
  )
  expect(again).toMatchObject({ error_annotation: { type: 'pull_request_diverged' } })
  expect(await at.sync(task)).toMatchObject({ head: theirs })
  await client.call('tasks.recover', { task_id: task.id, action: 'keep_ours' })
  await at.job.running.taskWhere(task.id, (one) => !one.entry_barrier && one.error_annotation === null)
  expect(await at.sync(task)).toMatchObject({ head: (await workOf(at, task)).head })
  expect(await rescuesOf(at, task)).toMatchObject([{ commit: theirs }])
})
