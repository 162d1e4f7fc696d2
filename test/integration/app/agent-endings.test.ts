import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'

/** An app whose coder is a program that speaks as Claude Code does, and ends as the script says. */
async function startEnding(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'copse-ending-'))
  const command = join(folder, 'claude')
  const lines = [
    `#!${process.execPath}`,
    `const say = (event) => process.stdout.write(JSON.stringify({ session_id: 's1', ...event }) + '\\n')`,
    `const words = (text) => say({ type: 'assistant', message: { content: [{ type: 'text', text }] } })`,
    `const result = (more) => say({ type: 'result', subtype: 'success', is_error: false, result: '', ...more })`,
    `const resumed = process.argv.includes('--resume')`,
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
    client: job.running.client,
    task: await job.running.taskWhere(task.id, (one) => one.error_annotation !== null || one.status === 'review'),
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

test.concurrent(
  'an agent that asks has not finished: its task says what is asked, and goes on in its session',
  async () => {
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
  },
)

test.concurrent(
  'an agent that hits its usage limit has not finished: its task says so, and it can be resumed',
  async () => {
    await using ending = await startEnding(
      `if (resumed) { words('Now it is done.'); result() }
     else { words('I begin.'); result({ is_error: true, result: "You've hit your session limit · resets 3pm" }); process.exitCode = 1 }`,
    )
    const { client, task, job } = ending
    expect(task).toMatchObject({
      status: 'in_progress',
      error_annotation: { type: 'execution_failed', reason: 'limit', recovery_actions: ['resume', 'retry_execution'] },
    })
    expect(task.error_annotation?.message).toBe("You've hit your session limit · resets 3pm")
    await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
    await job.running.taskWhere(task.id, (one) => one.status === 'review')
  },
)

test.concurrent('what a resumed session tells as the cost of all its runs is counted once', async () => {
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

test.concurrent('a resumed session whose count began with this run has cost what it tells', async () => {
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

test.concurrent('an agent that breaks off in the middle of a line leaves its task where it is', async () => {
  await using ending = await startEnding(
    `words('I begin.'); process.stdout.write('{"type":"res', () => process.kill(process.pid, 'SIGKILL'))`,
  )
  expect(ending.task).toMatchObject({
    status: 'in_progress',
    error_annotation: { type: 'execution_failed', exit_code: 137, message: 'The agent was ended by SIGKILL. I begin.' },
  })
})

test.concurrent('what an agent says that it has used is told of its run, its task and its project', async () => {
  const used = '{ usage: { input_tokens: 1000, output_tokens: 50 }, total_cost_usd: 0.25 }'
  await using ending = await startEnding(`words('Done.'); result(${used})`)
  const { client, task, job } = ending
  const [execution] = await job.executions(task.id)
  expect(execution?.usage).toEqual({ input_tokens: 1000, output_tokens: 50, cost_usd: 0.25 })
  const sum = { executions: 1, ...execution?.usage }
  expect(await client.call('tasks.usage', { task_id: task.id })).toEqual(sum)
  expect(await client.call('projects.usage', { project_id: job.project.id })).toEqual({
    total: sum,
    by_agent: [{ ...sum, agent_id: execution?.agent_id }],
    by_task: [{ ...sum, task_id: task.id, title: task.title }],
  })
})
