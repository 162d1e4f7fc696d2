import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Limits } from '../../../src-shared/contract/limits.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

const none: Limits = { per_run: null, per_task: null, per_day: null, warn_at: 0.8 }

const held = (job: Job, id: string) => job.running.taskWhere(id, (one) => one.error_annotation !== null)

/** A task with a running remote agent. */
async function startElsewhere(job: Job, limits: Partial<Limits>) {
  const { client } = job.running
  await job.settings({ limits: { ...none, ...limits } })
  const agent = await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    ({ status }) => status === 'running',
  )
  return { client, agent, task, execution_id: present(execution).id }
}

/** A command that prints these lines, then waits for its end, with the run's environment. */
async function startCommand(job: Job, script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'copse-told-'))
  const file = join(folder, 'agent.mjs')
  await writeFile(file, `const tell = (svc) => console.log(JSON.stringify({ svc }))\n${script}`)
  const agent = await job.running.client.call('agents.create', {
    name: 'Teller',
    executor: 'command',
    config: { command: `${process.execPath} ${file}` },
  })
  return { agent, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

const stay = 'setInterval(() => undefined, 60_000)'

test.concurrent('accepts a remote run’s total, which never falls, and its final figures', async () => {
  await using job = await startJob()
  const { client, task, execution_id } = await startElsewhere(job, {})
  const beat = (usage: object) => client.call('executions.heartbeat', { execution_id, usage })
  expect(await beat({ input_tokens: 100, output_tokens: 10, cost_usd: 0.5, turns: 2, model: 'some' })).toMatchObject({
    action: 'continue',
    execution: { usage: { input_tokens: 100, output_tokens: 10, cost_usd: 0.5, turns: 2, model: 'some' } },
  })
  expect((await beat({ input_tokens: 40, cost_usd: 0.25 })).execution.usage).toMatchObject({
    input_tokens: 100,
    cost_usd: 0.5,
  })
  await client.call('executions.finish', { execution_id, status: 'succeeded', usage: { cost_usd: 0.75, turns: 3 } })
  expect((await job.executions(task.id))[0]).toMatchObject({
    status: 'succeeded',
    usage: { input_tokens: 100, output_tokens: 10, cost_usd: 0.75, turns: 3 },
  })
  expect(await client.call('tasks.usage', { task_id: task.id })).toMatchObject({ executions: 1, cost_usd: 0.75 })
})

test.concurrent('computes a missing cost by the prices, or leaves it unknown', async () => {
  await using job = await startJob()
  const { client, execution_id } = await startElsewhere(job, {})
  const beat = async (usage: object) =>
    (await client.call('executions.heartbeat', { execution_id, usage })).execution.usage
  expect(await beat({ input_tokens: 1_000_000, output_tokens: 0 })).toMatchObject({ cost_usd: null })
  await job.settings({ prices: { priced: { input_usd_per_mtok: 2, output_usd_per_mtok: 10 } } })
  expect(await beat({ model: 'priced', output_tokens: 100_000 })).toMatchObject({ cost_usd: 3, estimated: true })
  expect(await beat({ cost_usd: 2.5 })).toEqual({
    input_tokens: 1_000_000,
    output_tokens: 100_000,
    cost_usd: 2.5,
    model: 'priced',
  })
})

test.concurrent('stops a remote run at its limit with the next heartbeat, and counts its last figures', async () => {
  await using job = await startJob()
  const { client, task, execution_id } = await startElsewhere(job, { per_run: { usd: 1 } })
  const beat = (cost_usd: number) => client.call('executions.heartbeat', { execution_id, usage: { cost_usd } })
  expect((await beat(0.9)).action).toBe('continue')
  expect(await beat(1.2)).toMatchObject({ action: 'stop', reason: 'limit_reached', execution: { status: 'stopped' } })
  expect((await held(job, task.id)).error_annotation).toMatchObject({
    type: 'limit_reached',
    limit: 'per_run.usd',
    allowed: 1,
    spent: 1.2,
    recovery_actions: ['raise_limit', 'retry_execution'],
  })
  expect(await beat(1.5)).toMatchObject({ action: 'stop', reason: 'limit_reached' })
  expect((await job.executions(task.id))[0]?.usage?.cost_usd).toBe(1.5)
  expect((await refused(client.call('executions.heartbeat', { execution_id }))).code).toBe('execution_not_running')
  const late = await refused(client.call('executions.finish', { execution_id, status: 'succeeded' }))
  expect(late.code).toBe('execution_not_running')
})

test.concurrent('tells a reporting machine the limit of each run', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ limits: { ...none, per_task: { usd: 1 } } })
  const { daemon, token } = await client.call('daemons.create', { name: 'build-1' })
  const reporter = job.running.clientWith(token)
  await reporter.call('daemons.report', {
    daemon_id: daemon.id,
    agents: [{ name: 'Hosted', executor: 'claude-code' }],
  })
  const agent = (await client.call('agents.list', {})).items.find(({ name }) => name === 'Hosted')
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent?.id ?? '' })
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    ({ status }) => status === 'running',
  )
  const report = async (cost_usd: number) =>
    (
      await reporter.call('daemons.report', {
        daemon_id: daemon.id,
        executions: [{ id: present(execution).id, usage: { cost_usd } }],
      })
    ).executions
  expect(await report(0.5)).toEqual([{ id: present(execution).id, action: 'continue' }])
  expect(await report(1)).toEqual([{ id: present(execution).id, action: 'stop', reason: 'limit_reached' }])
  expect((await held(job, task.id)).error_annotation).toMatchObject({ limit: 'per_task.usd', spent: 1 })
})

test('ends a silent remote run at its limit of minutes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const time = { now: Date.now() }
    await using job = await startJob({ clock: { now: () => time.now } })
    const { task } = await startElsewhere(job, { per_run: { minutes: 1 } })
    for (let step = 0; step < 4; step++) {
      time.now += 15_000
      vi.advanceTimersByTime(15_000)
    }
    expect((await held(job, task.id)).error_annotation).toMatchObject({ limit: 'per_run.minutes', spent: 1 })
  } finally {
    vi.useRealTimers()
  }
})

test.concurrent('reads a command’s usage from hidden lines, and stops it at a limit', async () => {
  await using job = await startJob()
  await job.settings({ limits: { ...none, per_run: { usd: 1 } } })
  await using command = await startCommand(
    job,
    `tell({ usage: { input_tokens: 10, cost_usd: 0.5, turns: 1 } }); console.log('Half.')
     tell({ usage: { input_tokens: 30, cost_usd: 1.5, turns: 3 } }); ${stay}`,
  )
  const task = await job.task()
  await job.claim(task, command.agent)
  expect((await held(job, task.id)).error_annotation).toMatchObject({ limit: 'per_run.usd', allowed: 1, spent: 1.5 })
  const [run] = await job.executions(task.id)
  expect(run).toMatchObject({ status: 'stopped', usage: { input_tokens: 30, cost_usd: 1.5, turns: 3 } })
  const { client } = job.running
  const execution_id = run?.id ?? ''
  const { items } = await client.call('executions.logs', { execution_id })
  const texts = items.map(async ({ name }) => {
    const log = await client.call('executions.read_log', { execution_id, name, offset: 0, limit: 1_000_000 })
    return Buffer.from(log.data_base64, 'base64').toString('utf8')
  })
  expect(await Promise.all(texts)).toContain('Half.\n')
})

test.concurrent('counts a command that reports everything at its end as finished', async () => {
  await using job = await startJob()
  await job.settings({ limits: { ...none, per_run: { usd: 1 } } })
  await using command = await startCommand(job, `console.log('Done.'); tell({ usage: { cost_usd: 2 } })`)
  const task = await job.task()
  await job.claim(task, command.agent)
  expect((await job.running.taskWhere(task.id, (one) => one.status === 'review')).error_annotation).toBeNull()
  expect((await job.executions(task.id))[0]).toMatchObject({ summary: 'Done.', usage: { cost_usd: 2 } })
})

test.concurrent('resumes a command’s session after its account’s limit', async () => {
  await using job = await startJob()
  const resets_at = new Date(Date.now() + 3_600_000).toISOString()
  await using command = await startCommand(
    job,
    `if (process.env.SVC_SESSION_ID) console.log('Again in', process.env.SVC_SESSION_ID)
     else { tell({ session_id: 'talk-1' }); tell({ usage_limit: { account: 'Shared', resets_at: '${resets_at}' } }); process.exit(1) }`,
  )
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, command.agent)
  const parked = await held(job, task.id)
  expect(parked.error_annotation).toMatchObject({
    type: 'usage_limit',
    account: 'Shared',
    resets_at,
    retry_at: resets_at,
  })
  expect((await job.executions(task.id)).map(({ status, session_id }) => [status, session_id])).toEqual([
    ['queued', 'talk-1'],
    ['failed', 'talk-1'],
  ])
  const sharing = await client.call('agents.create', {
    name: 'Sharing',
    executor: 'command',
    config: { command: 'true', account: 'Shared' },
  })
  const other = await job.task()
  await client.call('tasks.claim', { task_id: other.id, agent_id: sharing.id })
  const { waiting } = await client.call('projects.queue', { project_id: job.project.id })
  expect(waiting.map(({ task_id, reason }) => [task_id, reason])).toContainEqual([other.id, 'usage_limit'])
})
