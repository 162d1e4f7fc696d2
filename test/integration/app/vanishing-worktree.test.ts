import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refusalOf } from '../../helpers/refusal.ts'

test('says that a worktree has lost its .git file, instead of showing its branch alone', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo work > work.txt; git add -A; git commit -qm Work; echo done')
  const task = await job.task({ title: 'Vanish' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { path } = await client.call('tasks.workspace', { task_id: task.id })
  await rm(join(path, '.git'))
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({ dirty: false, lock: null })
  for (const scope of ['branch', 'uncommitted'] as const) {
    expect(await refusalOf(client.call('tasks.diff', { task_id: task.id, scope }))).toBe('workspace_failed')
  }
  // A folder that is gone has no work; its branch does.
  await rm(path, { recursive: true })
  const branch = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(branch.files.map((file) => file.path)).toEqual(['work.txt'])
})
