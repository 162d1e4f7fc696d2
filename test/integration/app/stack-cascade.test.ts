import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'

const cascading = (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) =>
    state.name === 'review'
      ? { ...state, hooks: { ...state.hooks, after_enter: [{ plugin: 'auto_cascade_on_review_pass' }] } }
      : state,
  ),
})

const isPassed = (task: Task): boolean =>
  task.status === 'review' && task.review_passed_at !== null && !task.entry_barrier && task.active_execution_id === null

test('waits with an automatic pass until the task below has landed', async () => {
  await using job = await startJob({ workflow: cascading })
  const { client } = job.running
  const me = await client.call('auth.me', {})
  const lower = await job.task({ title: 'Lower' })
  await client.call('tasks.assign_role', { task_id: lower.id, role: 'reviewer', user_id: me.id })
  await job.claim(lower, await job.agent('echo lower > lower.txt'))
  await job.running.taskWhere(lower.id, (task) => task.status === 'review' && !task.entry_barrier)
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id })
  await job.claim(upper, await job.agent('echo upper > upper.txt', 'Second'))
  await job.running.taskWhere(upper.id, isPassed)
  const last = (await job.transitions(upper.id)).at(-1)
  expect(last?.hooks.map(({ reason }) => reason)).toContain('stacked')
  await client.call('tasks.verdict', { task_id: lower.id, verdict: 'pass' })
  await job.running.taskWhere(lower.id, ({ status }) => status === 'done')
  await job.running.taskWhere(upper.id, ({ status }) => status === 'done')
  expect(await job.repository.git(['show', 'main:upper.txt'])).toBe('upper')
})

test('keeps a person’s pass of a stacked task, and lands it after the one below', async () => {
  await using job = await startJob({ workflow: cascading })
  const { client } = job.running
  const me = await client.call('auth.me', {})
  const judged = async (task_id: string) => {
    await client.call('tasks.assign_role', { task_id, role: 'reviewer', user_id: me.id })
  }
  const lower = await job.task({ title: 'Lower' })
  await judged(lower.id)
  await job.claim(lower, await job.agent('echo lower > lower.txt'))
  await job.running.taskWhere(lower.id, (task) => task.status === 'review' && !task.entry_barrier)
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id })
  await judged(upper.id)
  await job.claim(upper, await job.agent('echo upper > upper.txt', 'Second'))
  await job.running.taskWhere(upper.id, (task) => task.status === 'review' && !task.entry_barrier)
  await client.call('tasks.verdict', { task_id: upper.id, verdict: 'pass' })
  expect(await client.call('tasks.get', { task_id: upper.id })).toMatchObject({ status: 'review' })
  await client.call('tasks.verdict', { task_id: lower.id, verdict: 'pass' })
  await job.running.taskWhere(upper.id, ({ status }) => status === 'done')
})

test('tests a restacked branch before it lands', async () => {
  await using job = await startJob()
  const { client } = job.running
  const ran = join(job.repository.beside, 'ran')
  const ci_steps = ['true']
  const lower = await job.task({ title: 'Lower', review_config: { ci_steps } })
  await job.claim(lower, await job.agent('echo lower > lower.txt'))
  const first = await job.running.taskWhere(lower.id, isPassed)
  const upper = await job.task({ title: 'Upper', stacked_on: lower.id, review_config: { ci_steps } })
  await job.claim(upper, await job.agent('echo upper > upper.txt', 'Second'))
  await job.running.taskWhere(upper.id, isPassed)
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  await client.call('tasks.transition', { task_id: lower.id, status: 'merging', version: first.version })
  await job.running.taskWhere(lower.id, ({ status }) => status === 'done')
  await expect
    .poll(
      async () =>
        (await job.transitions(upper.id)).flatMap(({ hooks }) => hooks).some(({ action }) => action === 'restack'),
      { timeout: 100_000 },
    )
    .toBe(true)
  await job.settings({ landing: { mode: 'serial', steps: [`touch ${ran}`], max_parallel: 2, retry_failed: false } })
  const { version } = await job.running.taskWhere(upper.id, isPassed)
  expect(existsSync(ran)).toBe(false)
  await client.call('tasks.transition', { task_id: upper.id, status: 'merging', version })
  await job.running.taskWhere(upper.id, ({ status }) => status === 'done')
  expect(existsSync(ran)).toBe(true)
})
