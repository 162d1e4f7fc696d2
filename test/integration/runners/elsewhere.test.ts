import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { startFarJob } from '../../helpers/far-job.ts'

test('takes a task from a claim to the base branch on a runner elsewhere', async () => {
  await using far = await startFarJob()
  const { job, folder } = far
  const { client } = job.running
  await job.settings({
    setup_commands: ['pwd > set-up.txt'],
    landing: {
      mode: 'serial',
      steps: [`pwd > ${join(folder, 'landed')}; cat other.txt`],
      max_parallel: 1,
      retry_failed: false,
    },
  })
  const agent = await job.agent(
    'cat > prompt.txt; if grep -q "Say it louder" prompt.txt; then echo HELLO; else echo hello; fi > hello.txt; pwd >> where.txt; git add -A; git commit -qm "Say hello"; echo more > left.txt',
  )
  const task = await job.task({ review_config: { ci_steps: ['cat left.txt && pwd'] } })
  const { path } = await job.claim(task, agent)
  const inReview = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await inReview(1)
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Say it louder' })
  const reviewed = await inReview(2)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const checked = reviews.flatMap((review) => review.step_results.map((step) => step.output_tail))
  expect(checked).toHaveLength(2)
  for (const text of checked) expect(text).toContain(folder)
  const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  const files = ['hello.txt', 'left.txt', 'prompt.txt', 'set-up.txt', 'where.txt']
  expect(diff.files.map((file) => file.path).sort()).toEqual(files)

  // A base that has moved since is what a landing tests.
  await job.repository.commit('Move on', { 'other.txt': 'other\n' })
  const { task: merged } = await client.call('tasks.transition', {
    task_id: task.id,
    status: 'merging',
    version: reviewed.version,
  })
  expect(merged.status).toBe('done')
  expect(await job.repository.git(['show', 'main:hello.txt'])).toBe('HELLO')
  const where = (await job.repository.git(['show', 'main:where.txt'])).split('\n')
  expect(where).toEqual([join(folder, 'tasks', task.id, 'worktree'), join(folder, 'tasks', task.id, 'worktree')])
  await expect(access(path)).rejects.toThrow('ENOENT')
  const landed = await job.repository.git(['log', '--format=%an', '-1', 'main'])
  expect(landed).not.toBe('')
})

test('tells when work arrived, and which files were too large to come along', async () => {
  await using far = await startFarJob()
  const { job, runner_id } = far
  const { client } = job.running
  const before = new Date().toISOString()
  const agent = await job.agent(
    'if [ -e small.txt ]; then echo again > again.txt; else echo small > small.txt; truncate -s 51M big.bin; fi; git add *.txt; git commit -qm Work',
  )
  const task = await job.task()
  await job.claim(task, agent)
  const inReview = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await inReview(1)
  const read = () => client.call('tasks.workspace', { task_id: task.id })
  const first = await read()
  expect(first).toMatchObject({ runner_id, left_there: ['big.bin'] })
  expect((first.arrived_at ?? '') >= before).toBe(true)
  const { files } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map(({ path }) => path)).toEqual(['small.txt'])

  await far.restart()
  expect(await job.running.client.call('tasks.workspace', { task_id: task.id })).toMatchObject(first)

  // Here nothing arrives, and nothing stays elsewhere.
  await job.settings({ runner_ids: ['here' as RunnerId] })
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  await inReview(2)
  expect(await job.running.client.call('tasks.workspace', { task_id: task.id })).toMatchObject({
    runner_id: 'here',
    arrived_at: null,
    left_there: [],
  })
})
