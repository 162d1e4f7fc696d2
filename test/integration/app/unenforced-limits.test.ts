import { expect, test } from 'vitest'
import type { Limits } from '../../../src-shared/contract/limits.ts'
import { startJob } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'

const none: Limits = { per_run: null, per_task: null, per_day: null, warn_at: 0.8 }

test('says at a claim that a money limit can’t hold an agent without costs', async () => {
  await using job = await startJob()
  const { client } = job.running
  const remote = await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const claim = async () => {
    const task = await job.task()
    const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: remote.id })
    await job.running.eventually(
      () => client.call('executions.get', { execution_id: present(claimed.execution).id }),
      ({ status }) => status === 'running',
    )
    const shown = await client.call('tasks.get', { task_id: task.id })
    expect(shown.limits_unenforced).toEqual(claimed.limits_unenforced)
    return { ...claimed, execution_id: present(claimed.execution).id, task_id: task.id }
  }
  expect((await claim()).limits_unenforced).toBeUndefined()
  await job.settings({ limits: { ...none, per_task: { usd: 5 } } })
  const first = await claim()
  expect(first.limits_unenforced).toEqual(['usd'])
  // Once it has reported a cost, the limit applies, also to its next runs.
  await client.call('executions.heartbeat', { execution_id: first.execution_id, usage: { cost_usd: 1 } })
  expect((await client.call('tasks.get', { task_id: first.task_id })).limits_unenforced).toBeUndefined()
  expect((await claim()).limits_unenforced).toBeUndefined()
})

test('marks sums with a run without costs, and shows each agent’s day', async () => {
  await using job = await startJob()
  const { client } = job.running
  const limits = { per_day: { usd: 3, minutes: null } }
  const remote = await client.call('agents.create', { name: 'Remote', executor: 'external', config: { limits } })
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: remote.id })
  const execution_id = present(execution).id
  await job.running.eventually(
    () => client.call('executions.get', { execution_id }),
    ({ status }) => status === 'running',
  )
  await client.call('executions.heartbeat', { execution_id, usage: { input_tokens: 10 } })
  expect(await client.call('tasks.usage', { task_id: task.id })).toMatchObject({ cost_usd: null, incomplete: true })
  await client.call('executions.heartbeat', { execution_id, usage: { cost_usd: 1.5 } })
  expect(await client.call('tasks.usage', { task_id: task.id })).toMatchObject({ cost_usd: 1.5, incomplete: false })
  const { items } = await client.call('agents.limits', {})
  expect(items.find(({ agent_id }) => agent_id === remote.id)).toMatchObject({
    executions: 1,
    usd: 1.5,
    items: [{ limit: 'agent_per_day.usd', allowed: 3, spent: 1.5, incomplete: false }],
  })
})
