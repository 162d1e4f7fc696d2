import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Limits } from '../../../src-shared/contract/limits.ts'
import { scripted, startModelServer, type ModelServer, type ModelStep } from '../../fakes/model-server.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { projectRoot } from '../../helpers/project-root.ts'

const none: Limits = { per_run: null, per_task: null, per_day: null, warn_at: 0.8 }
const usdPerToken = 10 / 1_000_000

const configFor = (model: ModelServer) => ({
  command: `${process.execPath} ${join(projectRoot, 'test', 'fakes', 'metered-agent.mjs')}`,
  env: { MODEL_URL: model.url, MODEL_KEY: 'scripted', USD_PER_MTOK: '10' },
})
const meteredAgent = (job: Job, model: ModelServer) =>
  job.running.client.call('agents.create', { name: 'Metered', executor: 'command', config: configFor(model) })

const shells = (times: number, delay = 0): ModelStep[] =>
  Array.from({ length: times }, () => ({ shell: 'true', ...(delay > 0 && { delay }) }))
/** Each request of the scripted server reports this many tokens. */
const tokensPerCall = 120

test.concurrent('adds up to the provider’s own figures over all runs', async () => {
  await using model = await startModelServer({ apiKey: 'scripted' })
  await using job = await startJob()
  const { client } = job.running
  const agent = await meteredAgent(job, model)
  for (const times of [1, 4, 7]) {
    const description = scripted('Work.', [...shells(times), { say: 'Shall I go on with the rest?' }])
    const task = await job.task({ description })
    await job.claim(task, agent)
    await job.running.taskWhere(task.id, (one) => one.status === 'review')
  }
  // A run that is stopped counts as far as it has reported, and so does its next run in the same session.
  const description = scripted('Wait.', [...shells(2), { shell: 'exec tail -f /dev/null' }])
  const stopped = await job.task({ description })
  const { execution } = await job.claim(stopped, agent)
  await model.waitForCall((call) => call.index === 2 && call.prompt.includes('Wait.'))
  await job.running.eventually(
    () => client.call('tasks.limits', { task_id: stopped.id }).then(() => job.executions(stopped.id)),
    ([run]) => run?.session_id === 'talk-1',
  )
  await job.running.eventually(
    () => client.call('projects.limits', { project_id: job.project.id }),
    ({ agents }) => (agents[0]?.usd ?? 0) >= model.log.length * tokensPerCall * usdPerToken - 1e-9,
  )
  await client.call('executions.stop', { execution_id: execution.id })
  await client.call('tasks.update', { task_id: stopped.id, description: scripted('Finish.', [{ say: 'Done.' }]) })
  await client.call('tasks.recover', { task_id: stopped.id, action: 'resume' })
  await job.running.taskWhere(stopped.id, (one) => one.status === 'review')

  const { total } = await client.call('projects.usage', { project_id: job.project.id })
  expect((total.input_tokens ?? 0) + (total.output_tokens ?? 0)).toBe(model.log.length * tokensPerCall)
  expect(total.cost_usd).toBeCloseTo(model.log.length * tokensPerCall * usdPerToken, 9)
  expect(total).toMatchObject({ executions: 5, incomplete: false })
  expect((await job.executions(stopped.id)).map(({ status, session_id }) => [status, session_id])).toEqual([
    ['succeeded', 'talk-1'],
    ['stopped', 'talk-1'],
  ])
})

test.concurrent('stops a run capped at $0.01 within one request more, and resumes after a raise', async () => {
  await using model = await startModelServer({ apiKey: 'scripted' })
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ limits: { ...none, per_task: { usd: 0.01 } } })
  const agent = await meteredAgent(job, model)
  const task = await job.task({ description: scripted('Work.', [...shells(30, 100), { say: 'Done.' }]) })
  await job.claim(task, agent)
  const held = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(held.error_annotation).toMatchObject({ type: 'limit_reached', limit: 'per_task.usd', allowed: 0.01 })
  const enough = Math.ceil(0.01 / (tokensPerCall * usdPerToken))
  expect(model.log.length).toBeGreaterThanOrEqual(enough)
  expect(model.log.length).toBeLessThanOrEqual(enough + 2)
  const [run] = await job.executions(task.id)
  expect(run?.usage?.turns).toBeLessThanOrEqual(enough + 1)
  await client.call('tasks.recover', { task_id: task.id, action: 'raise_limit', to: 1 })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect((await job.executions(task.id)).map(({ status, session_id }) => [status, session_id])).toEqual([
    ['succeeded', 'talk-1'],
    ['stopped', 'talk-1'],
  ])
})

test.concurrent('ends an agent that ignores TERM soon after its limit, and counts what it spent until then', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ limits: { ...none, per_task: { usd: 0.01 } } })
  const line = `{"svc":{"usage":{"cost_usd":'$n'}}}`
  const command = `trap '' TERM; n=0; while :; do n=$((n + 1)); echo '${line}'; sleep 0.2; done`
  const agent = await client.call('agents.create', { name: 'Stubborn', executor: 'command', config: { command } })
  const task = await job.task()
  const began = Date.now()
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'limit_reached')
  // TERM alone would leave it ten seconds.
  expect(Date.now() - began).toBeLessThan(8_000)
  const [run] = await job.executions(task.id)
  expect(run).toMatchObject({ status: 'stopped', usage: { input_tokens: null, output_tokens: null } })
  expect(run?.usage?.cost_usd).toBeGreaterThan(1)
})

test('resumes three tasks of a limited account once each at its reset, across kill -9 and a changed clock', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-spending-'))
  await using repository = await createTestRepository()
  const hour = 3_600_000
  const resets_at = new Date(Date.now() + hour).toISOString()
  const limit = JSON.stringify({ svc: { session_id: 'talk-1', usage_limit: { resets_at }, usage: { cost_usd: 0.25 } } })
  const command = `if [ -n "$SVC_SESSION_ID" ]; then echo "again in $SVC_SESSION_ID" >> told.txt; else echo '${limit}'; exit 1; fi`
  try {
    await using first = await startKillableApp(dataDir)
    const { client } = first
    const project = await client.call('projects.create', { name: 'Limited', repo_path: repository.path })
    const agent = await client.call('agents.create', { name: 'Limited', executor: 'command', config: { command } })
    const tasks = await Promise.all(
      ['One', 'Two', 'Three'].map((title) => client.call('tasks.create', { project_id: project.id, title })),
    )
    // All three have begun before the first meets the limit, or wait for the account in the queue.
    await Promise.all(tasks.map(({ id }) => client.call('tasks.claim', { task_id: id, agent_id: agent.id })))
    const queueOf = async (app: typeof first) =>
      (await app.client.call('projects.queue', { project_id: project.id })).waiting
    const isParked = (waiting: Awaited<ReturnType<typeof queueOf>>) =>
      waiting.length === 3 && waiting.every(({ retry_at }) => retry_at === resets_at)
    await first.eventually(() => queueOf(first), isParked)
    await first.kill()

    // A clock that was set back by a day wakes none of them.
    await using second = await startKillableApp(dataDir, 'plain', { clockOffsetMs: -24 * hour })
    expect(isParked(await queueOf(second))).toBe(true)
    await second.kill()

    await using third = await startKillableApp(dataDir, 'plain', { clockOffsetMs: hour + 60_000 })
    for (const { id } of tasks) {
      await third.eventually(
        () => third.client.call('tasks.get', { task_id: id }),
        ({ status }) => status === 'review',
      )
      const { items } = await third.client.call('tasks.executions', { task_id: id })
      expect(items.filter(({ status }) => status === 'succeeded')).toHaveLength(1)
      expect(items.filter(({ status }) => status === 'failed').length).toBeLessThanOrEqual(1)
    }
    expect(await queueOf(third)).toEqual([])
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('counts what a run has used although the service was killed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-spending-'))
  await using repository = await createTestRepository()
  const line = JSON.stringify({ svc: { usage: { input_tokens: 100, output_tokens: 20, cost_usd: 0.5, turns: 1 } } })
  try {
    await using first = await startKillableApp(dataDir)
    const { client } = first
    const project = await client.call('projects.create', { name: 'Killed', repo_path: repository.path })
    const config = { command: `echo '${line}'; exec tail -f /dev/null` }
    const agent = await client.call('agents.create', { name: 'Killed', executor: 'command', config })
    const task = await client.call('tasks.create', { project_id: project.id, title: 'One' })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const project_id = project.id
    await first.eventually(
      () => client.call('projects.limits', { project_id }),
      ({ agents }) => agents[0]?.usd === 0.5,
    )
    await first.kill()
    await using second = await startKillableApp(dataDir)
    expect(await second.client.call('tasks.usage', { task_id: task.id })).toMatchObject({
      executions: 1,
      input_tokens: 100,
      cost_usd: 0.5,
    })
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})
