import { expect, test } from 'vitest'
import { refused } from '../../helpers/refusal.ts'
import { startJob } from '../../helpers/job.ts'

test('starts a stacked task on the lower branch once that is submitted, and lands it after it', async () => {
  await using job = await startJob()
  const { client } = job.running
  const writes = await job.agent('echo lower > lower.txt')
  const adds = await job.agent('echo upper > upper.txt', 'Upper')
  const lower = await job.task({ title: 'Lower' })
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id })
  expect(upper.stacked_on).toBe(lower.id)

  const early = await refused(job.claim(upper, adds))
  expect(early).toMatchObject({ code: 'dependency_gate', details: { stacked_on: lower.id } })

  await job.claim(lower, writes)
  await job.running.taskWhere(
    lower.id,
    (task) => task.status === 'review' && task.review_passed_at !== null && !task.entry_barrier,
  )
  await job.claim(upper, adds)
  const passed = await job.running.taskWhere(
    upper.id,
    (task) => task.status === 'review' && task.review_passed_at !== null && !task.entry_barrier,
  )
  const diff = await client.call('tasks.diff', { task_id: upper.id, scope: 'branch' })
  expect(diff.files.map(({ path }) => path)).toEqual(['upper.txt'])

  const tooSoon = { task_id: upper.id, status: 'merging', version: passed.version }
  expect(await refused(client.call('tasks.transition', tooSoon))).toMatchObject({
    code: 'dependency_gate',
    details: { stacked_on: lower.id },
  })
})

test('refuses tasks of other projects, and cycles', async () => {
  await using job = await startJob()
  const { client } = job.running
  const first = await job.task({ title: 'First' })
  const second = await job.task({ title: 'Second', stacked_on: first.id })
  const cycle = await refused(client.call('tasks.update', { task_id: first.id, stacked_on: second.id }))
  expect(cycle.code).toBe('dependency_cycle')
  const crossed = await refused(client.call('tasks.add_dependency', { task_id: first.id, depends_on_id: second.id }))
  expect(crossed.code).toBe('dependency_cycle')
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const foreign = await client.call('tasks.create', { project_id: other.id, title: 'Foreign' })
  const cross = await refused(client.call('tasks.update', { task_id: foreign.id, stacked_on: first.id }))
  expect(cross.code).toBe('cross_project_dependency')
  const free = await client.call('tasks.update', { task_id: second.id, stacked_on: null })
  expect(free.stacked_on).toBeNull()
})
