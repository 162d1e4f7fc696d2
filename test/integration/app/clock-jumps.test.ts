import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refusalOf } from '../../helpers/refusal.ts'

/** An app whose clock and timers the test moves; the token outlasts the first 15 minutes. */
async function startSleeper() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let now = Date.now()
  const job = await startJob({ clock: { now: () => now } })
  const { token } = await job.running.client.call('auth.create_token', { name: 'For the night' })
  return {
    job,
    client: job.running.clientWith(token),
    /** Simulates a sleeping machine: the clock advances, timers do not. */
    sleep: (hours: number) => {
      now += hours * 3_600_000
    },
    pass: (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 15) {
        now += 15_000
        vi.advanceTimersByTime(15_000)
      }
    },
    [Symbol.asyncDispose]: async () => {
      await job[Symbol.asyncDispose]()
      vi.useRealTimers()
    },
  }
}

test('does not lose a remote agent after a night’s sleep, only after its own silence', async () => {
  await using sleeper = await startSleeper()
  const { job, client } = sleeper
  const agent = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const statusOf = async () => (await client.call('executions.get', { execution_id: execution.id })).status
  await job.running.eventually(statusOf, (status) => status === 'running')
  sleeper.sleep(8)
  sleeper.pass(60)
  expect(await statusOf()).toBe('running')
  await client.call('executions.heartbeat', { execution_id: execution.id })
  sleeper.pass(90)
  expect(await statusOf()).toBe('running')
  sleeper.pass(15)
  expect(await statusOf()).toBe('lost')
})

test('keeps a run’s token through the night, until the run ends', async () => {
  await using sleeper = await startSleeper()
  const { job, client } = sleeper
  const task = await job.task()
  const go = join(job.running.dataDir, 'go')
  const { path, execution } = await job.claim(
    task,
    await job.agent(`echo $SVC_API_TOKEN > ../token; until test -e '${go}'; do sleep 0.05; done; echo done`),
  )
  await job.running.eventually(
    async () => (await client.call('executions.get', { execution_id: execution.id })).status,
    (status) => status === 'running',
  )
  const file = join(path, '..', 'token')
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toMatch(/\n$/), { timeout: 100_000 })
  const agent = job.running.clientWith((await readFile(file, 'utf8')).trim())
  sleeper.sleep(8)
  sleeper.pass(60)
  expect(await agent.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'in_progress' })
  await writeFile(go, '')
  const over = async () => (await client.call('executions.get', { execution_id: execution.id })).status
  await vi.waitFor(async () => expect(await over()).toBe('succeeded'), { timeout: 100_000 })
  expect(await refusalOf(agent.call('tasks.get', { task_id: task.id }))).toBe('invalid_token')
})

test('starts a run that waits for a remote agent’s worktree once that is lost', async () => {
  await using sleeper = await startSleeper()
  const { job, client } = sleeper
  const far = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  const parent = await job.task()
  const { execution } = await job.claim(parent, far)
  const statusOf = async () => (await client.call('executions.get', { execution_id: execution.id })).status
  await job.running.eventually(statusOf, (status) => status === 'running')
  const child = await job.task({ parent_id: parent.id, subtask_mode: 'ordered' })
  const near = await job.agent('echo done')
  await client.call('tasks.claim', { task_id: child.id, agent_id: near.id, overrides: { lock_policy: 'wait' } })
  const queue = () => client.call('projects.queue', { project_id: job.project.id })
  await job.running.eventually(queue, ({ waiting }) => waiting.some(({ reason }) => reason === 'worktree_busy'))
  sleeper.pass(120)
  expect(await statusOf()).toBe('lost')
  const ended = async () => (await client.call('tasks.executions', { task_id: child.id })).items[0]?.status
  await vi.waitFor(async () => expect(await ended()).toBe('succeeded'), { timeout: 100_000 })
})

test('does not take a short sleep for the silence of an agent', async () => {
  await using sleeper = await startSleeper()
  const { job, client } = sleeper
  await client.call('projects.update_settings', { project_id: job.project.id, stall_seconds: 30, stall_retries: 0 })
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('sleep 600'))
  const statusOf = async () => (await client.call('executions.get', { execution_id: execution.id })).status
  await job.running.eventually(statusOf, (status) => status === 'running')
  sleeper.sleep(40 / 3_600)
  sleeper.pass(15)
  expect(await statusOf()).toBe('running')
  sleeper.pass(30)
  await job.running.eventually(statusOf, (status) => status === 'failed')
})
