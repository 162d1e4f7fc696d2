import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

test('takes a new name of the base, even after a failed merge', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo theirs > own.txt; echo done')
  const task = await job.task()
  await job.claim(task, agent)
  const ready = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const update = (more: { base_branch?: string } = {}) =>
    client.call('tasks.update_branch', { task_id: task.id, ...more })
  await job.repository.commit('Meanwhile', { 'base.txt': 'more\n' })
  await job.repository.git(['branch', '-m', 'main', 'trunk'])
  const missing = await refused(update())
  expect([missing.code, missing.status]).toEqual(['branch_missing', 409])
  expect(missing.message).toContain('“main”')
  expect((await refused(update({ base_branch: 'nowhere' }))).code).toBe('branch_missing')
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect(workspace.base_branch).toBe('main')
  expect(await refusalOf(update({ base_branch: workspace.branch }))).toBe('validation_failed')

  const failed = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: ready.version })
  expect(failed.task.status).toBe('merge_failed')
  expect((await update({ base_branch: 'trunk' })).outcome).toBe('updated')
  expect((await client.call('tasks.workspace', { task_id: task.id })).base_branch).toBe('trunk')
  expect(await job.repository.git(['ls-tree', '--name-only', workspace.branch])).toContain('base.txt')
})
