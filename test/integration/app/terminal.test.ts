import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob } from '../../helpers/job.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refused } from '../../helpers/refusal.ts'

/** Waits until the raw log of an execution shows this. */
async function seen(client: Client, execution_id: string, text: string): Promise<void> {
  let all = ''
  for (let offset = 0; !all.includes(text);) {
    const name = `agent-${execution_id}.raw.log`
    const slice = await client.call('executions.read_log', { execution_id, name, offset, wait_seconds: 25 })
    all += Buffer.from(slice.data_base64, 'base64').toString()
    if (slice.complete && !all.includes(text)) throw new Error(`It ended without ${text}: ${JSON.stringify(all)}`)
    offset = slice.next_offset
  }
}

const isRunning = (client: Client, execution_id: string) => () =>
  client.call('executions.get', { execution_id }).then(({ status }) => status)

test.concurrent('lets people type into a command in a terminal and resize it', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await client.call('agents.create', {
    name: 'Shell',
    executor: 'command',
    config: { command: 'printf "Ready? "; read -r word; stty size; echo "heard $word"', terminal: true },
  })
  const { execution } = await job.claim(await job.task(), agent)
  const execution_id = execution.id
  await job.running.eventually(isRunning(client, execution_id), (status) => status === 'running')
  await seen(client, execution_id, 'Ready? ')
  await client.call('executions.resize', { execution_id, cols: 101, rows: 33 })
  await client.call('executions.input', { execution_id, data: 'yes' })
  await seen(client, execution_id, 'Ready? yes')
  await client.call('executions.input', { execution_id, data: '\r' })
  await seen(client, execution_id, '33 101')
  await seen(client, execution_id, 'heard yes')
  await job.running.taskWhere(execution.task_id, (task) => task.status === 'review')
  const late = await refused(client.call('executions.resize', { execution_id, cols: 80, rows: 24 }))
  expect(late.code).toBe('execution_not_running')
})

test.concurrent('refuses to resize or type where there is no terminal, and says why', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { execution } = await job.claim(await job.task(), await job.agent(beacon.hold('agent', 'sleep 1000')))
  await beacon.alive('agent')
  await job.running.eventually(isRunning(client, execution.id), (status) => status === 'running')
  const resize = refused(client.call('executions.resize', { execution_id: execution.id, cols: 80, rows: 24 }))
  expect((await resize).message).toContain('has no terminal')
  const input = refused(client.call('executions.input', { execution_id: execution.id, data: 'x' }))
  expect(await input).toMatchObject({ code: 'execution_not_running' })
})

test.concurrent('leaves nothing of a terminal command when killed, and delivers a waiting message', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-crash-'))
  try {
    await using first = await startKillableApp(dataDir)
    const project = await first.client.call('projects.create', { name: 'Crash', repo_path: repository.path })
    const hold = beacon.hold('agent', `trap '' HUP TERM; sleep 1000 & sleep 1000`)
    const agent = await first.client.call('agents.create', {
      name: 'Shell',
      executor: 'command',
      config: { command: `grep -q "Go on" "$SVC_PROMPT_FILE" && echo went on && exit 0; ${hold}`, terminal: true },
    })
    const task = await first.client.call('tasks.create', { project_id: project.id, title: 'Survive' })
    await first.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await beacon.alive('agent')
    // A run whose start was not saved yet would be started again.
    await first.eventually(
      async () => (await first.client.call('tasks.executions', { task_id: task.id })).items,
      (all) => all.every((one) => one.started_at !== null),
    )
    const sent = await first.client.call('tasks.feedback', { task_id: task.id, message: 'Go on.' })
    expect(sent.execution.status).toBe('queued')
    await first.kill()

    await using second = await startKillableApp(dataDir)
    await beacon.gone('agent')
    const ended = await second.eventually(
      async () => (await second.client.call('tasks.executions', { task_id: task.id })).items,
      (all) => all.every((one) => one.finished_at !== null),
    )
    expect(ended.map(({ status, message }) => [status, message ?? null])).toEqual([
      ['succeeded', 'Go on.'],
      ['lost', null],
    ])
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})
