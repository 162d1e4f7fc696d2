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

const configOf = (about: object) => ({ command: '/nowhere/agent', ...about })

test.each([
  ['codex', { model: 'gpt-6.2-sol' }, undefined, 'turn'],
  ['qwen', { model: 'qwen3.8-max' }, undefined, 'turn'],
  ['gemini', { model: 'gemini-3.8-flash' }, undefined, 'run'],
  ['copilot', { model: 'claude-opus-5-5' }, undefined, 'run'],
  ['opencode', { model: 'anthropic/claude-opus-5-5' }, undefined, 'run'],
  ['claude-code', {}, undefined, 'turn'],
  ['codex', { model: 'fake-1' }, ['usd'], 'turn'],
  ['copilot', {}, ['usd'], 'run'],
  ['command', { command: 'exec tail -f /dev/null' }, ['usd', 'turns'], undefined],
  ['external', {}, ['usd', 'turns'], undefined],
] as const)('says of %s with %j what of its limits holds, and how often that is checked', async (...row) => {
  const [executor, about, unenforced, checked] = row
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ limits: { ...none, per_run: { usd: 1, turns: 10 } } })
  const config = executor === 'external' ? {} : configOf(about)
  const agent = await client.call('agents.create', { name: 'It', executor, config })
  const task = await job.task()
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  expect([claimed.limits_unenforced, claimed.limits_checked]).toEqual([unenforced, checked])
  expect(claimed.task).toMatchObject({
    ...(unenforced && { limits_unenforced: unenforced }),
    ...(checked && { limits_checked: checked }),
  })
})

test('says that turns are not limited until an agent reports its requests', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ limits: { ...none, per_run: { turns: 3 } } })
  const remote = await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const task = await job.task()
  const { execution, limits_unenforced } = await client.call('tasks.claim', { task_id: task.id, agent_id: remote.id })
  const execution_id = present(execution).id
  expect(limits_unenforced).toEqual(['turns'])
  await job.running.eventually(
    () => client.call('executions.get', { execution_id }),
    ({ status }) => status === 'running',
  )
  const usesOf = async () => (await client.call('tasks.limits', { task_id: task.id })).items
  expect(await usesOf()).toMatchObject([{ limit: 'per_run.turns', allowed: 3, spent: null }])
  await client.call('executions.heartbeat', { execution_id, usage: { turns: 1 } })
  const shown = await client.call('tasks.get', { task_id: task.id })
  expect([shown.limits_unenforced, shown.limits_checked]).toEqual([undefined, 'turn'])
  expect(await usesOf()).toMatchObject([{ limit: 'per_run.turns', spent: 1 }])
  const { usage } = await client.call('executions.get', { execution_id })
  expect(usage).toEqual({ input_tokens: null, output_tokens: null, cost_usd: null, turns: 1 })
})

test('tells the price of a model, by the project, the list or its family', async () => {
  await using job = await startJob()
  const { client } = job.running
  const own = { input_usd_per_mtok: 7, output_usd_per_mtok: 9 }
  await job.settings({ prices: { mine: own } })
  const ask = (model?: string) =>
    client.call('projects.prices', { project_id: job.project.id, ...(model !== undefined && { model }) })
  const all = await ask()
  expect(all).toMatchObject({ own: { mine: own }, days_old: expect.any(Number) as number })
  expect(all.list['gpt-6-sol']).toBeDefined()
  expect(all).not.toHaveProperty('found')
  expect((await ask('mine')).found).toEqual({ model: 'mine', by: 'project', price: own })
  expect((await ask('gpt-6.2-sol')).found).toMatchObject({ model: 'gpt-6-sol', by: 'family' })
  expect((await ask('fake-1')).found).toBeNull()
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
