import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const merge = async (job: Job, task: Task) => {
  const { client } = job.running
  const now = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  return await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: now.version })
}
const depend = (job: Job, task: Task, on: Task) =>
  job.running.client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: on.id })
const whenReady = (job: Job, task: Task, agent_id: string) =>
  job.running.client.call('tasks.start_when_ready', { task_id: task.id, agent_id })
const startsOf = async (job: Job, task: Task) => (await job.executions(task.id)).length

test('starts waiting tasks once all their dependencies are done, branches at once', async () => {
  await using job = await startJob()
  const agent = await job.agent('date +%N > $SVC_TASK_ID.txt; echo done')
  const [base, left, right, end] = await Promise.all(
    ['Base', 'Left', 'Right', 'End'].map((title) => job.task({ title })),
  )
  if (!base || !left || !right || !end) throw new Error('There are four.')
  await depend(job, left, base)
  await depend(job, right, base)
  await depend(job, end, left)
  await depend(job, end, right)
  for (const task of [left, right, end]) {
    const { task: set } = await whenReady(job, task, agent.id)
    expect(set.start_when_ready).toMatchObject({ agent_id: agent.id, overrides: {} })
    expect(set.status).toBe('backlog')
  }
  // It has no open dependency, so it starts at once.
  const { task: started } = await whenReady(job, base, agent.id)
  expect(started).toMatchObject({ start_when_ready: null, roles: { coder: { id: agent.id } } })
  await merge(job, base)
  await merge(job, left)
  expect(await startsOf(job, end)).toBe(0)
  await merge(job, right)
  const done = await merge(job, end)
  expect(done.task.status).toBe('done')
  expect(await Promise.all([base, left, right, end].map((task) => startsOf(job, task)))).toEqual([1, 1, 1, 1])
})

test('starts nothing for a cancelled or deleted dependency and reports it, until it is removed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo 1 > one.txt; echo done')
  const [first, second, third] = await Promise.all(['A', 'B', 'C'].map((title) => job.task({ title })))
  if (!first || !second || !third) throw new Error('There are three.')
  await depend(job, second, first)
  await depend(job, third, first)
  await whenReady(job, second, agent.id)
  await client.call('tasks.cancel', { task_id: first.id })
  const held = await job.running.taskWhere(second.id, (one) => one.error_annotation !== null)
  expect(held).toMatchObject({
    status: 'backlog',
    error_annotation: { type: 'dependency_failed', dependencies: [first.id] },
  })
  await client.call('tasks.remove_dependency', { task_id: second.id, depends_on_id: first.id })
  await job.running.taskWhere(second.id, (one) => one.start_when_ready === null && one.status === 'review')

  const gone = await job.task({ title: 'Gone' })
  await depend(job, third, gone)
  await client.call('tasks.remove_dependency', { task_id: third.id, depends_on_id: first.id })
  await whenReady(job, third, agent.id)
  await client.call('tasks.delete', { task_id: gone.id })
  const waits = await job.running.taskWhere(third.id, (one) => one.error_annotation !== null)
  expect(waits).toMatchObject({ status: 'backlog', error_annotation: { dependencies: [gone.id] } })
  expect(await startsOf(job, third)).toBe(0)
  await client.call('tasks.remove_dependency', { task_id: third.id, depends_on_id: gone.id })
  await job.running.taskWhere(third.id, (one) => one.status === 'review')
})

test('starts a stacked task once the one below it is submitted', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('date +%N > $SVC_TASK_ID.txt; echo done')
  const lower = await job.task({ title: 'Lower' })
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id })
  const { task: waiting } = await whenReady(job, upper, agent.id)
  expect(waiting).toMatchObject({ status: 'backlog', start_when_ready: { agent_id: agent.id } })
  await client.call('tasks.claim', { task_id: lower.id, agent_id: agent.id })
  await job.running.taskWhere(upper.id, (one) => one.status === 'review' && one.start_when_ready === null)
  expect((await client.call('tasks.get', { task_id: lower.id })).status).toBe('review')
})

test('starts a paused task afterwards, also after a restart, with its overrides', async () => {
  await using job = await startJob({ keepData: true })
  const { client } = job.running
  const agent = await job.agent('printf %s "$WORD" | rev > word.txt; echo done')
  const [first, second] = await Promise.all(['A', 'B'].map((title) => job.task({ title })))
  if (!first || !second) throw new Error('There are two.')
  await depend(job, second, first)
  const { task } = await client.call('tasks.start_when_ready', {
    task_id: second.id,
    agent_id: agent.id,
    overrides: { env: { WORD: 'open-sesame' } },
  })
  // As secret as an agent's; a review would wait if the work had it as it is.
  expect(JSON.stringify(task)).not.toContain('open-sesame')
  expect(task.start_when_ready?.overrides.env).toEqual({ WORD: '' })
  await job.claim(first, agent)
  await job.running.taskWhere(first.id, (one) => one.review_passed_at !== null)
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  await merge(job, first)
  expect(await startsOf(job, second)).toBe(0)
  job.running = await job.running.restart()
  expect(await startsOf(job, second)).toBe(0)
  await job.running.client.call('agents.update', { agent_id: agent.id, paused: false })
  await job.running.taskWhere(second.id, (one) => one.status === 'review')
  const branch = (await job.running.client.call('tasks.workspace', { task_id: second.id })).branch
  await merge(job, second)
  expect(await job.repository.git(['show', `main:word.txt`]), branch).toBe('emases-nepo')
})

test('can be cancelled, is cleared by a claim, and is refused if it could never start', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo 1 > one.txt; echo done')
  const [first, second] = await Promise.all(['A', 'B'].map((title) => job.task({ title })))
  if (!first || !second) throw new Error('There are two.')
  await depend(job, second, first)
  await whenReady(job, second, agent.id)
  await client.call('tasks.cancel_start', { task_id: second.id })
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready).toBeNull()
  await client.call('tasks.cancel', { task_id: first.id })
  expect(await refused(whenReady(job, first, agent.id))).toMatchObject({ code: 'task_terminal' })
  await whenReady(job, second, agent.id)
  await client.call('agents.delete', { agent_id: agent.id })
  await client.call('tasks.remove_dependency', { task_id: second.id, depends_on_id: first.id })
  const told = await eventually(
    client,
    () => client.call('tasks.get', { task_id: second.id }),
    (one) => one.start_when_ready === null,
  )
  expect(told.error_annotation?.message).toContain('The agent was deleted.')
})
