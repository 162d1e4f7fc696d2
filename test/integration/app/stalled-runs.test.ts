import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'

/** Advances time in small steps, each followed by a sweep, as for a machine that is awake. */
async function withClock(
  work: (clock: { now(): number; pass(seconds: number): void }) => Promise<void>,
): Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const time = { now: Date.now() }
    await work({
      now: () => time.now,
      pass: (seconds) => {
        for (let left = seconds; left > 0; left -= 15) {
          time.now += 15_000
          vi.advanceTimersByTime(15_000)
        }
      },
    })
  } finally {
    vi.useRealTimers()
  }
}

/** Resolves when the newest of this many runs has printed its first line. */
async function running(job: Job, task_id: string, count: number): Promise<void> {
  const { client } = job.running
  await job.running.eventually(
    async () => {
      const [run, ...others] = await job.executions(task_id)
      if (run?.status !== 'running' || others.length !== count - 1) return ''
      const name = (await client.call('executions.logs', { execution_id: run.id })).items[0]?.name
      if (name === undefined) return ''
      const log = await client.call('executions.read_log', { execution_id: run.id, name, offset: 0, limit: 10_000 })
      return Buffer.from(log.data_base64, 'base64').toString('utf8')
    },
    (said) => said.includes('hello'),
  )
}

test('ends a stalled run and retries as often as the project says, then reports it', async () => {
  await withClock(async (clock) => {
    await using job = await startJob({ clock })
    await job.settings({ stall_seconds: 60, stall_retries: 1 })
    const task = await job.task()
    await job.claim(task, await job.agent('echo hello; exec tail -f /dev/null'))
    await running(job, task.id, 1)
    clock.pass(45)
    expect((await job.executions(task.id))[0]?.status).toBe('running')
    clock.pass(30)
    const parked = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
    expect(parked.error_annotation).toMatchObject({
      type: 'execution_failed',
      reason: 'stalled',
      failure: 'stalled',
      message: 'No sign of the agent for 60 s.',
      retry_at: expect.any(String) as string,
      recovery_actions: [],
    })
    expect((await job.executions(task.id)).map(({ status, failure }) => [status, failure])).toEqual([
      ['queued', undefined],
      ['failed', 'stalled'],
    ])
    clock.pass(15)
    await running(job, task.id, 2)
    expect((await job.running.client.call('tasks.get', { task_id: task.id })).error_annotation).toBeNull()
    clock.pass(90)
    const told = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
    expect(told).toMatchObject({ active_execution_id: null, status: 'in_progress' })
    expect(told.error_annotation).toMatchObject({ reason: 'stalled', recovery_actions: ['retry_execution'] })
    expect(told.error_annotation?.retry_at).toBeUndefined()
    // A person's restart resets the retries.
    await job.running.client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
    await running(job, task.id, 3)
    clock.pass(90)
    const again = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
    expect(again.error_annotation?.retry_at).toBeDefined()
  })
})

test('ends nothing by default, and counts a written file as activity', async () => {
  await withClock(async (clock) => {
    await using job = await startJob({ clock })
    const task = await job.task()
    const { path } = await job.claim(task, await job.agent('echo hello; exec tail -f /dev/null'))
    await running(job, task.id, 1)
    await job.settings({ stall_after_seconds: 60 })
    clock.pass(600)
    const { client } = job.running
    const quietSince = async () =>
      (await client.call('projects.queue', { project_id: job.project.id })).running[0]?.quiet_since
    expect(await quietSince()).not.toBeNull()
    await job.running.eventually(
      async () => {
        await writeFile(join(path, 'sign.txt'), String(Math.random()))
        return quietSince()
      },
      (since) => since === null,
    )
    await job.settings({ stall_seconds: 60 })
    clock.pass(45)
    expect((await job.executions(task.id))[0]?.status).toBe('running')
    clock.pass(30)
    const ended = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
    expect(ended.error_annotation).toMatchObject({ reason: 'stalled' })
  })
})
