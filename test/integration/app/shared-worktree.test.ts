import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait, type ProcessBeacon } from '../../helpers/process-beacon.ts'
import { refused } from '../../helpers/refusal.ts'
import { withHooks } from '../../helpers/small-workflow.ts'
import { ordered, workedParent } from '../../helpers/worked-parent.ts'

/** An ordered subtask whose agent has written half a file until the test releases `child`. */
async function writingChild(job: Job, beacon: ProcessBeacon, parent: Task): Promise<void> {
  const writes = `${wait}; rm half.txt; echo whole > whole.txt; echo done`
  const child = await job.task(ordered(parent))
  await job.claim(child, await job.agent(`touch half.txt; ${beacon.hold('child', writes)}`, 'Child'))
  await beacon.alive('child')
}

/** Takes another task from its claim to its review, which is time enough for what must not happen. */
async function another(job: Job): Promise<void> {
  const other = await job.task({ title: 'Another', review_config: { ci_steps: ['true'] } })
  await job.claim(other, await job.agent('echo x > x.txt; echo done', 'Other'))
  await job.running.taskWhere(other.id, (one) => one.review_summary?.status === 'passed')
}

test.concurrent('does not run a parent’s checks while its subtask’s agent writes', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { parent } = await workedParent(job)
  await writingChild(job, beacon, parent)
  const review_config = { ci_steps: ['test ! -e half.txt && test -e whole.txt'], review_prompt: null }
  await client.call('tasks.update', { task_id: parent.id, version: parent.version, review_config })
  for (const status of ['in_progress', 'review']) {
    const { version } = await job.running.taskWhere(parent.id, (one) => !one.entry_barrier)
    await client.call('tasks.transition', { task_id: parent.id, status, version })
  }
  await another(job)
  const waiting = await client.call('tasks.reviews', { task_id: parent.id })
  expect(waiting.items[0]).toMatchObject({ attempt_number: 2, status: 'running', step_results: [] })
  await beacon.release('child')
  const reviewed = await job.running.taskWhere(parent.id, (one) => one.review_summary?.status !== 'running')
  expect(reviewed).toMatchObject({ status: 'review', review_summary: { status: 'passed', attempt_number: 2 } })
})

test.concurrent('refuses a parent’s merge while its subtask’s agent writes', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { parent } = await workedParent(job)
  await job.running.taskWhere(parent.id, (one) => !one.entry_barrier)
  await writingChild(job, beacon, parent)
  const merge = { task_id: parent.id, status: 'merging', version: parent.version }
  expect(await refused(client.call('tasks.transition', merge))).toMatchObject({ code: 'workspace_locked' })
  expect(await client.call('tasks.get', { task_id: parent.id })).toMatchObject({ version: parent.version })
  const { files } = await client.call('tasks.diff', { task_id: parent.id, scope: 'uncommitted' })
  expect(files.map((file) => file.path)).toContain('half.txt')
  await beacon.release('child')
  await job.running.eventually(
    () => client.call('tasks.list', { project_id: job.project.id, parent_id: parent.id }),
    ({ items }) => items[0]?.review_passed_at !== null && items[0]?.entry_barrier === false,
  )
  // The subtask's later writes need a person who has seen them.
  expect((await refused(client.call('tasks.transition', merge))).code).toBe('review_not_ready')
  const { tree } = await client.call('tasks.diff', { task_id: parent.id, scope: 'branch' })
  const seen = { ...merge, tree: tree ?? '' }
  expect((await client.call('tasks.transition', seen)).task.status).toBe('done')
  expect(await job.repository.git(['ls-tree', '--name-only', 'main', 'half.txt', 'whole.txt'])).toBe('whole.txt')
})

test.concurrent('waits with an automatic merge for the subtask’s agent, and merges what was judged', async () => {
  await using beacon = await createProcessBeacon()
  const onward: StateHook = { script: 'true', on_success: { cascade: 'merging' } }
  await using job = await startJob({ workflow: withHooks({ blocked: { after_enter: [onward] } }) })
  const { client } = job.running
  const { parent } = await workedParent(job)
  await writingChild(job, beacon, parent)
  await job.running.taskWhere(parent.id, (one) => !one.entry_barrier)
  await client.call('tasks.transition', { task_id: parent.id, status: 'blocked', version: parent.version })
  await another(job)
  expect(await client.call('tasks.get', { task_id: parent.id })).toMatchObject({ status: 'merging' })
  await beacon.release('child')
  await job.running.taskWhere(parent.id, (one) => one.status === 'done')
  expect(await job.repository.git(['ls-tree', '--name-only', 'main', 'half.txt', 'whole.txt'])).toBe('')
})

test.concurrent('does not delete a parent while its subtask’s agent writes', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { parent, path } = await workedParent(job)
  await writingChild(job, beacon, parent)
  const refusal = await refused(client.call('tasks.delete', { task_id: parent.id }))
  expect([refusal.status, refusal.code]).toEqual([409, 'workspace_locked'])
  expect(await readdir(path)).toContain('half.txt')
  await beacon.release('child')
  await job.running.eventually(
    () => client.call('tasks.list', { project_id: job.project.id, parent_id: parent.id }),
    ({ items }) => items[0]?.review_passed_at !== null && items[0]?.entry_barrier === false,
  )
  await client.call('tasks.delete', { task_id: parent.id })
  expect((await refused(client.call('tasks.get', { task_id: parent.id }))).code).toBe('not_found')
})
