import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Limits } from '../../../src-shared/contract/limits.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

const none: Limits = { per_run: null, per_task: null, per_day: null, warn_at: 0.8 }

/** A program that speaks like Claude Code: it reports each model call when its line is written to `go`. */
async function startSpender(limits: Partial<Limits>, script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'copse-limits-'))
  const command = join(folder, 'claude')
  const lines = [
    `#!${process.execPath}`,
    `const say = (event) => process.stdout.write(JSON.stringify({ session_id: 's1', ...event }) + '\\n')`,
    `const resumed = process.argv.includes('--resume')`,
    `const words = (text) => say({ type: 'assistant', message: { content: [{ type: 'text', text }] } })`,
    `let calls = 0`,
    `const call = (output_tokens) => say({ type: 'assistant', message: { id: 'c' + ++calls, model: 'priced', content: [{ type: 'tool_use', id: 't' + calls, name: 'Bash', input: { command: 'true' } }], usage: { input_tokens: 0, output_tokens } } })`,
    `const result = (more) => say({ type: 'result', subtype: 'success', is_error: false, result: '', ...more })`,
    `const stay = () => setInterval(() => undefined, 60_000)`,
    `require('node:fs').writeFileSync('work.txt', String(resumed))`,
    `require('node:readline').createInterface({ input: process.stdin }).on('close', () => process.exit())`,
    script,
  ]
  await writeFile(command, lines.join('\n'), { mode: 0o755 })
  const job = await startJob()
  const { client } = job.running
  await job.settings({
    limits: { ...none, ...limits },
    // A dollar per thousand tokens.
    prices: { priced: { input_usd_per_mtok: 0, output_usd_per_mtok: 1_000 } },
  })
  const agent = await client.call('agents.create', { name: 'Spender', executor: 'claude-code', config: { command } })
  return {
    job,
    folder,
    client,
    agent,
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const held = (job: Job, id: string) => job.running.taskWhere(id, (one) => one.error_annotation !== null)

test.concurrent('stops an agent whose money runs out, keeps its work, and resumes after one raise', async () => {
  await using spender = await startSpender(
    { per_task: { usd: 2 } },
    `if (resumed) { words('Done.'); result({ total_cost_usd: 3, usage: { output_tokens: 10 }, modelUsage: { priced: { outputTokens: 9_999 } } }) } else { call(1_500); call(1_000); stay() }`,
  )
  const { job, client, agent } = spender
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  const stopped = await held(job, task.id)
  expect(stopped).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: {
      type: 'limit_reached',
      limit: 'per_task.usd',
      allowed: 2,
      spent: 2.5,
      recovery_actions: ['raise_limit', 'retry_execution'],
    },
  })
  const [run] = await job.executions(task.id)
  expect(run).toMatchObject({
    status: 'stopped',
    session_id: 's1',
    usage: { output_tokens: 2_500, cost_usd: 2.5, estimated: true, turns: 2, model: 'priced' },
  })
  const refusal = await refused(client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' }))
  expect(refusal).toMatchObject({ code: 'limit_reached', details: { limit: 'per_task.usd', allowed: 2, spent: 2.5 } })
  const again = await refused(client.call('tasks.claim', { task_id: task.id, agent_id: agent.id }))
  expect(again.code).toBe('limit_reached')
  const low = await refused(client.call('tasks.recover', { task_id: task.id, action: 'raise_limit', to: 2.5 }))
  expect(low.code).toBe('validation_failed')
  await client.call('tasks.recover', { task_id: task.id, action: 'raise_limit', to: 5 })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(await job.repository.git(['-C', path, 'show', 'HEAD:work.txt']).catch(() => 'uncommitted')).toMatch(
    /true|uncommitted/,
  )
  expect((await job.executions(task.id)).map(({ status, session_id }) => [status, session_id])).toEqual([
    ['succeeded', 's1'],
    ['stopped', 's1'],
  ])
  const { items } = await client.call('tasks.limits', { task_id: task.id })
  expect(items).toMatchObject([{ limit: 'per_task.usd', allowed: 5, spent: 3, raised: true }])
})

test.concurrent('counts turns, warns once on the way, and lets only an owner raise', async () => {
  await using spender = await startSpender(
    { per_run: { turns: 5 } },
    `for (let n = 0; n < 4; n++) call(1)
     const gate = setInterval(() => { if (require('node:fs').existsSync(__dirname + '/gate')) { clearInterval(gate); call(1) } }, 20)
     stay()`,
  )
  const { job, client, agent } = spender
  const task = await job.task()
  await job.claim(task, agent)
  const warnings = async () =>
    (await client.call('notifications.list', {})).items.flatMap(({ event_type, body }) =>
      event_type === 'limit.warning' ? [body] : [],
    )
  await job.running.eventually(warnings, (all) => all.length > 0)
  await writeFile(join(spender.folder, 'gate'), '')
  expect((await held(job, task.id)).error_annotation).toMatchObject({ limit: 'per_run.turns', allowed: 5, spent: 5 })
  expect(await warnings()).toEqual(['4 turns of 5 turns for a run. At the limit its agent stops; the work is kept.'])
  const other = await job.running.clientWith(null).call('auth.register', {
    email: 'member@copse.test',
    password: 'correct horse',
    display_name: 'Member',
  })
  await client.call('members.add', { project_id: job.project.id, email: 'member@copse.test' })
  const member = job.running.clientWith(other.access_token)
  const refusal = await refused(member.call('tasks.recover', { task_id: task.id, action: 'raise_limit', to: 9 }))
  expect(refusal.code).toBe('owner_required')
})

test.concurrent('ends a silent run at its limit of minutes', async () => {
  await using spender = await startSpender({ per_run: { minutes: 0.01 } }, `words('I begin.'); stay()`)
  const { job, agent } = spender
  const task = await job.task()
  await job.claim(task, agent)
  expect((await held(job, task.id)).error_annotation).toMatchObject({ type: 'limit_reached', limit: 'per_run.minutes' })
})

test.concurrent('counts a turn that ends at the limit as finished', async () => {
  await using spender = await startSpender(
    { per_run: { usd: 1 } },
    `words('Done.'); result({ total_cost_usd: 1.5, usage: {} })`,
  )
  const { job, agent } = spender
  const task = await job.task()
  await job.claim(task, agent)
  expect((await job.running.taskWhere(task.id, (one) => one.status === 'review')).error_annotation).toBeNull()
})

test.concurrent('holds the next task at the daily limit of a project or agent, and says since when', async () => {
  await using spender = await startSpender(
    { per_day: { usd: 4 } },
    `words('Done.'); result({ total_cost_usd: 3, usage: {} })`,
  )
  const { job, client, agent } = spender
  const limits = { per_day: { usd: 2 } }
  const tight = await client.call('agents.create', {
    name: 'Tight',
    executor: 'claude-code',
    config: { ...agent.config, limits },
  })
  const first = await job.task()
  await job.claim(first, tight)
  await job.running.taskWhere(first.id, (one) => one.status === 'review')
  const second = await job.task()
  const byAgent = await refused(client.call('tasks.claim', { task_id: second.id, agent_id: tight.id }))
  expect(byAgent.details).toEqual({ limit: 'agent_per_day.usd', allowed: 2, spent: 3 })
  await job.claim(second, agent)
  await job.running.taskWhere(second.id, (one) => one.status === 'review')
  const third = await job.task()
  const byProject = await refused(client.call('tasks.claim', { task_id: third.id, agent_id: agent.id }))
  expect(byProject.details).toEqual({ limit: 'per_day.usd', allowed: 4, spent: 6 })
  const told = await client.call('projects.limits', { project_id: job.project.id })
  const midnight = new Date()
  midnight.setHours(0, 0, 0, 0)
  expect(told).toMatchObject({
    since: midnight.toISOString(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    items: [{ limit: 'per_day.usd', allowed: 4, spent: 6 }],
  })
  expect(told.agents.find(({ agent_id }) => agent_id === tight.id)).toMatchObject({
    usd: 3,
    executions: 1,
    items: [{ limit: 'agent_per_day.usd', allowed: 2, spent: 3 }],
  })
})

test.concurrent('refuses an invalid limit', async () => {
  await using job = await startJob()
  for (const limits of [
    { per_run: { usd: 0 } },
    { per_task: { turns: 3 } },
    { per_run: { turns: 1.5 } },
    { week: {} },
  ]) {
    const refusal = await refused(job.settings({ limits } as never))
    expect(refusal.code).toBe('validation_failed')
  }
})

test.concurrent('leaves a way out of every limit that refuses a claim, from wherever it is asked for', async () => {
  await using spender = await startSpender(
    { per_day: { usd: 1 } },
    `words('Done.'); result({ total_cost_usd: 1.5, usage: {} })`,
  )
  const { job, client, agent } = spender
  const spent = await job.task()
  await job.claim(spent, agent)
  await job.running.taskWhere(spent.id, (one) => one.status === 'review' && !one.entry_barrier)
  const recover = (task_id: string, action: 'raise_limit' | 'retry_execution' | 'resume', to?: number) =>
    client.call('tasks.recover', { task_id, action, ...(to !== undefined && { to }) })

  // Before any run of the task, whoever has it or nobody.
  const held = await job.task()
  await client.call('tasks.assign_role', { task_id: held.id, role: 'coder', agent_id: agent.id })
  for (const task of [await job.task(), held]) {
    const claim = () => client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const refusal = await refused(claim())
    expect(refusal).toMatchObject({
      code: 'limit_reached',
      message: expect.stringContaining('raise_limit') as string,
      details: { limit: 'per_day.usd', allowed: 1 },
    })
    for (const action of ['retry_execution', 'resume'] as const)
      expect(await refused(recover(task.id, action))).toMatchObject({ code: 'limit_reached', message: refusal.message })
    expect((await refused(recover(task.id, 'raise_limit', 1))).code).toBe('validation_failed')
    const raised = await recover(task.id, 'raise_limit', 100)
    expect(raised.task).toMatchObject({ status: 'backlog', error_annotation: null })
    expect((await claim()).task.status).toBe('in_progress')
    await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  }

  // After a run that ended in order, sent back for more.
  const back = await job.running.taskWhere(spent.id, (one) => one.status === 'review')
  await client.call('tasks.verdict', { task_id: spent.id, verdict: 'fail', feedback: 'Again.', version: back.version })
  const stopped = await job.running.taskWhere(spent.id, (one) => one.error_annotation !== null)
  expect(stopped.error_annotation).toMatchObject({ type: 'limit_reached', limit: 'per_day.usd' })
  await recover(spent.id, 'raise_limit', 100)
  await job.running.taskWhere(spent.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect((await refused(recover(spent.id, 'raise_limit', 200))).message).toContain('No limit keeps agents')
})
