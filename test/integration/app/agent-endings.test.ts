import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runApp } from '../../helpers/running-app.ts'
import { startJob } from '../../helpers/job.ts'

/** An app whose coder speaks like Claude Code and ends as the script says. */
async function startEnding(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'copse-ending-'))
  const command = join(folder, 'claude')
  const lines = [
    `#!${process.execPath}`,
    `const say = (event) => process.stdout.write(JSON.stringify({ session_id: 's1', ...event }) + '\\n')`,
    `const words = (text) => say({ type: 'assistant', message: { content: [{ type: 'text', text }] } })`,
    `const result = (more) => say({ type: 'result', subtype: 'success', is_error: false, result: '', ...more })`,
    `const resumed = process.argv.includes('--resume')`,
    `require('node:fs').writeFileSync('work.txt', String(resumed))`,
    `require('node:readline').createInterface({ input: process.stdin }).on('close', () => process.exit(process.exitCode))`,
    script,
  ]
  await writeFile(command, lines.join('\n'), { mode: 0o755 })
  const job = await startJob()
  const config = { command }
  const agent = await job.running.client.call('agents.create', { name: 'Ending', executor: 'claude-code', config })
  const task = await job.task()
  await job.claim(task, agent)
  return {
    job,
    agent,
    client: job.running.client,
    task: await job.running.taskWhere(task.id, (one) => one.error_annotation !== null || one.status === 'review'),
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test.concurrent('shows the question of an agent that asks instead of finishing, and resumes its session', async () => {
  await using ending = await startEnding(
    `words(resumed ? 'Both are renamed.' : 'I renamed one of them. Shall I rename the other one too?'); result()`,
  )
  const { client, task, job } = ending
  expect(task).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: {
      type: 'execution_incomplete',
      reason: 'question',
      recovery_actions: ['resume', 'retry_execution'],
    },
  })
  expect(task.error_annotation?.message).toContain('Shall I rename the other one too?')
  await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect((await job.executions(task.id)).map(({ status, session_id }) => [status, session_id])).toEqual([
    ['succeeded', 's1'],
    ['stopped', 's1'],
  ])
})

test.concurrent('waits for the reset after a usage limit, until a person stops that', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000)
  const time = `${inAnHour.getHours()}:${String(inAnHour.getMinutes()).padStart(2, '0')}`
  await using ending = await startEnding(
    `words('I begin.'); result({ is_error: true, result: "You've hit your session limit · resets ${time}" }); process.exitCode = 1`,
  )
  const { client, task, job } = ending
  expect(task).toMatchObject({
    status: 'in_progress',
    error_annotation: { type: 'usage_limit', recovery_actions: [] },
  })
  expect(task.error_annotation?.message).toBe(`You've hit your session limit · resets ${time}`)
  // The end of the minute that it names.
  const end = new Date(inAnHour).setSeconds(60, 0)
  expect(task.error_annotation?.retry_at).toBe(new Date(end).toISOString())
  expect(task.error_annotation?.doubtful).toBeUndefined()
  const [next, first] = await job.executions(task.id)
  expect([next?.status, next?.session_id, first?.status]).toEqual(['queued', 's1', 'failed'])
  await client.call('executions.stop', { execution_id: next?.id ?? '' })
  const stopped = await client.call('tasks.get', { task_id: task.id })
  expect(stopped.error_annotation).toMatchObject({ type: 'execution_paused' })
  expect((await client.call('projects.queue', { project_id: job.project.id })).waiting).toEqual([])
})

test.concurrent('resumes once at the reset, while other tasks of the account wait', async () => {
  const soon = `Math.ceil(Date.now() / 1000) + 4`
  await using ending = await startEnding(
    `const at = ${soon}
     if (resumed || process.env.OTHER) { words('Now it is done.'); result() }
     else if (require('node:fs').existsSync(__dirname + '/reset')) { words('Done.'); result() }
     else {
       require('node:fs').writeFileSync(__dirname + '/reset', '')
       say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: at } })
       words('I begin.'); result({ is_error: true, result: "You've hit your limit · resets soon" }); process.exitCode = 1 }`,
  )
  const { client, task, job, agent } = ending
  expect(task.error_annotation).toMatchObject({ type: 'usage_limit', account: 'Claude Code' })
  const { items } = await client.call('accounts.list', {})
  expect(items.find(({ account }) => account === 'Claude Code')).toMatchObject({
    agents: [agent.id],
    resets_at: task.error_annotation?.resets_at,
    windows: [{ name: '5 hours', used: 1 }],
  })
  const second = await job.task({ title: 'Second' })
  await job.claim(second, agent)
  const { waiting } = await client.call('projects.queue', { project_id: job.project.id })
  expect(waiting.map(({ title, reason }) => [title, reason])).toEqual([
    [task.title, 'retry_later'],
    ['Second', 'usage_limit'],
  ])
  expect(waiting[1]?.retry_at).toBe(task.error_annotation?.retry_at)
  const config = { ...agent.config, env: { CLAUDE_CONFIG_DIR: '/elsewhere/.claude-work', OTHER: '1' } }
  const other = await client.call('agents.create', { name: 'Other', executor: 'claude-code', config })
  const third = await job.task({ title: 'Third' })
  await job.claim(third, other)
  await job.running.taskWhere(third.id, (one) => one.status === 'review')
  const retry_at = task.error_annotation?.retry_at ?? ''
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  await job.running.taskWhere(second.id, (one) => one.status === 'review')
  const runs = await job.executions(task.id)
  expect(runs.map(({ status, session_id }) => [status, session_id])).toEqual([
    ['succeeded', 's1'],
    ['failed', 's1'],
  ])
  expect((runs[0]?.started_at ?? '') >= retry_at).toBe(true)
})

test.concurrent('says that a reset is doubtful which is later than the limit lasts, and tries before', async () => {
  const late = new Date(Date.now() - 3_600_000)
  const time = `${late.getHours()}:${String(late.getMinutes()).padStart(2, '0')}`
  await using ending = await startEnding(
    `if (resumed) { words('Done.'); result() }
     else { words('I begin.'); result({ is_error: true, result: "You've hit your session limit · resets ${time}" }); process.exitCode = 1 }`,
  )
  const { task, client, job } = ending
  const { retry_at = '', resets_at = '', doubtful } = task.error_annotation ?? {}
  expect(doubtful).toBe(true)
  expect(Date.parse(resets_at ?? '') - Date.now()).toBeGreaterThan(22 * 3_600_000)
  expect(Date.parse(retry_at) - Date.now()).toBeLessThan(16 * 60_000)
  const { items } = await client.call('accounts.list', {})
  expect(items).toMatchObject([{ limited_until: retry_at, resets_at, doubtful: true }])
  const { dataDir } = job.running
  await job.running.app.close()
  job.running = await runApp({ dataDir, clock: { now: () => Date.now() + 16 * 60_000 } })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
})

test('resumes the tasks of two agents of one account once each at their reset', async () => {
  await using ending = await startEnding(
    `const { existsSync, writeFileSync } = require('node:fs')
     const runs = __dirname + '/' + process.env.WHO
     if (existsSync(runs)) { words('Done.'); result() }
     else {
       writeFileSync(runs, '')
       const at = Math.ceil(Date.now() / 1000) + 3
       say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: at } })
       const leave = () => { words('I begin.'); result({ is_error: true, result: "You've hit your limit" }); process.exitCode = 1 }
       // The first is refused while the second still runs.
       process.env.WHO === undefined ? leave() : setTimeout(leave, 500)
     }`,
  )
  const { client, task, job, agent } = ending
  expect(task.error_annotation).toMatchObject({ type: 'usage_limit', account: 'Claude Code' })
  const other = await client.call('agents.create', {
    name: 'Other',
    executor: 'claude-code',
    config: { ...agent.config, env: { WHO: 'other' } },
  })
  const second = await job.task({ title: 'Second' })
  await job.claim(second, other)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  await job.running.taskWhere(second.id, (one) => one.status === 'review')
  expect((await job.executions(task.id)).map(({ status }) => status)).toEqual(['succeeded', 'failed'])
  const runs = await job.executions(second.id)
  expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'failed'])
})

test.concurrent('tells accounts apart by HOME', async () => {
  await using job = await startJob()
  const { client } = job.running
  for (const [name, HOME] of Object.entries({ One: '/home/one', Two: '/home/two', Same: '/home/two' }))
    await client.call('agents.create', { name, executor: 'codex', config: { env: { HOME } } })
  const { items } = await client.call('accounts.list', {})
  const accounts = items.filter(({ executor }) => executor === 'codex')
  expect(accounts.map(({ agents }) => agents.length).toSorted()).toEqual([1, 2])
  expect(accounts.map(({ account }) => account)).toEqual([
    expect.stringMatching(/^Codex, one [0-9a-f]{16}$/),
    expect.stringMatching(/^Codex, two [0-9a-f]{16}$/),
  ])
})

test('resumes at the reset after a restart of the service', async () => {
  const at = Math.ceil(Date.now() / 1_000) + 3_600
  await using ending = await startEnding(
    `if (resumed) { words('Now it is done.'); result() }
     else { words('I begin.'); result({ is_error: true, result: 'Claude AI usage limit reached|${at}' }); process.exitCode = 1 }`,
  )
  const { task, job } = ending
  expect(task.error_annotation).toMatchObject({ type: 'usage_limit', retry_at: new Date(at * 1_000).toISOString() })
  job.running = await job.running.restart()
  const { waiting } = await job.running.client.call('projects.queue', { project_id: job.project.id })
  expect(waiting).toMatchObject([{ reason: 'retry_later', retry_at: new Date(at * 1_000).toISOString() }])
  const { dataDir } = job.running
  await job.running.app.close()
  job.running = await runApp({ dataDir, clock: { now: () => Date.now() + 3_601_000 } })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect((await job.executions(task.id)).map(({ status }) => status)).toEqual(['succeeded', 'failed'])
})

test.concurrent('ends an agent at its first 401, and says how to sign in', async () => {
  await using ending = await startEnding(
    `say({ type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, retry_delay_ms: 600000, error_status: 401, error: 'authentication_failed' })
     setInterval(() => undefined, 60_000)`,
  )
  expect(ending.task.error_annotation).toMatchObject({
    type: 'execution_failed',
    message: 'Claude Code is no longer signed in (401). Run `claude` once to sign in again, or renew its key.',
  })
})

test.concurrent('counts once what a resumed session reports as the cost of all runs', async () => {
  const cost = (usd: number, output: number) =>
    `result({ usage: { input_tokens: 100, output_tokens: 10 }, total_cost_usd: ${usd}, modelUsage: { m: { outputTokens: ${output} } } })`
  await using ending = await startEnding(
    `if (resumed) { words('Now it is done.'); ${cost(0.75, 20)} } else { words('Shall I go on?'); ${cost(0.5, 10)} }`,
  )
  const { client, task, job } = ending
  await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect((await job.executions(task.id)).map((one) => one.usage?.cost_usd)).toEqual([0.25, 0.5])
  expect(await client.call('tasks.usage', { task_id: task.id })).toMatchObject({ cost_usd: 0.75 })
})

test.concurrent('counts all of a resumed session whose count began with this run', async () => {
  const cost = (usd: number, output: number) =>
    `result({ usage: { input_tokens: 100, output_tokens: 10 }, total_cost_usd: ${usd}, modelUsage: { m: { outputTokens: ${output} } } })`
  await using ending = await startEnding(
    `if (resumed) { words('Now it is done.'); ${cost(0.75, 10)} } else { words('Shall I go on?'); ${cost(0.5, 10)} }`,
  )
  const { client, task, job } = ending
  await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(await client.call('tasks.usage', { task_id: task.id })).toMatchObject({ cost_usd: 1.25 })
})

test.concurrent('leaves the task in place if the agent breaks off in the middle of a line', async () => {
  await using ending = await startEnding(
    `words('I begin.'); process.stdout.write('{"type":"res', () => process.kill(process.pid, 'SIGKILL'))`,
  )
  expect(ending.task).toMatchObject({
    status: 'in_progress',
    error_annotation: {
      type: 'execution_failed',
      exit_code: 137,
      message: 'The agent was ended by SIGKILL.',
      failure: 'killed',
    },
  })
})

test.concurrent('adds an agent’s usage to its run, task and project', async () => {
  const used = '{ usage: { input_tokens: 1000, output_tokens: 50 }, total_cost_usd: 0.25 }'
  await using ending = await startEnding(`words('Done.'); result(${used})`)
  const { client, task, job } = ending
  const [execution] = await job.executions(task.id)
  expect(execution?.usage).toEqual({ input_tokens: 1000, output_tokens: 50, cost_usd: 0.25 })
  const sum = { executions: 1, ...execution?.usage, incomplete: false }
  expect(await client.call('tasks.usage', { task_id: task.id })).toEqual(sum)
  expect(await client.call('projects.usage', { project_id: job.project.id })).toEqual({
    total: sum,
    by_agent: [{ ...sum, agent_id: execution?.agent_id }],
    by_task: [{ ...sum, task_id: task.id, title: task.title }],
  })
})
