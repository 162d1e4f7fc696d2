import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test, vi } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { projectRoot } from '../../helpers/project-root.ts'

const file = join(projectRoot, 'docs', 'examples', 'worker.mjs')

/** The documented worker as a process that runs `command` for each task. */
async function startWorker(job: Job, command: string, more: { env?: Record<string, string>; args?: string[] } = {}) {
  const { client, url } = job.running
  const agent = await client.call('agents.create', { name: 'Remote', executor: 'external' })
  const { token } = await client.call('auth.create_token', { name: 'worker' })
  const args = [file, '--project', 'Job', '--agent', 'Remote', ...(more.args ?? []), '--', 'sh', '-c', command]
  const worker = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', SVC_API_URL: url, SVC_API_TOKEN: token, ...more.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(worker, 'exit') as Promise<[number | null, string | null]>
  const lines: string[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: worker.stdout }).on('line', (line) => {
    lines.push(line)
    for (const wake of waiting) wake()
  })
  return {
    agent,
    worker,
    ended,
    /** Resolves with the first line that matches. */
    said: (like: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const line = lines.find((one) => like.test(one))
          if (line !== undefined) resolve(line)
        }
        waiting.add(look)
        look()
      }),
    [Symbol.asyncDispose]: async () => {
      worker.kill('SIGTERM')
      await ended
    },
  }
}

const readyTask = (job: Job, title: string) => job.task({ title, status: 'todo', description: `Do: ${title}` })

/** The result of an execution of the task. */
const executionOf = async (job: Job, task: Task) => (await job.executions(task.id))[0]

test('does one task after another with the documented worker', async () => {
  await using job = await startJob()
  await using worker = await startWorker(job, 'cat > told.txt; env | grep -c TOKEN; echo "All of $SVC_TASK_TITLE"')
  await worker.said(/^Waiting/)
  for (const title of ['One', 'Two']) {
    const task = await readyTask(job, title)
    const reviewed = await job.running.taskWhere(task.id, ({ review_passed_at }) => review_passed_at !== null)
    expect(reviewed.roles['coder']).toEqual({ type: 'agent', id: worker.agent.id })
    expect(await executionOf(job, task)).toMatchObject({ status: 'succeeded', summary: `0\nAll of ${title}` })
    const { path } = await job.running.client.call('tasks.workspace', { task_id: task.id })
    expect(await readFile(join(path, 'told.txt'), 'utf8')).toContain(`Do: ${title}`)
    expect((await job.transitions(task.id))[0]?.triggered_by).toBe(`agent:${worker.agent.id}`)
  }
})

test('repeats what a reviewer sends back, and reports a failing command', async () => {
  await using job = await startJob()
  await using worker = await startWorker(job, 'cat >> told.txt; ! grep -q "not at all" told.txt')
  const task = await readyTask(job, 'Again')
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'not at all' })
  const failed = await job.running.taskWhere(task.id, ({ error_annotation }) => error_annotation !== null)
  expect(failed).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_failed' } })
  worker.worker.kill('SIGTERM')
  expect(await worker.ended).toEqual([0, null])
})

test('ends its command when a person stops the execution, and takes the next task', async () => {
  await using job = await startJob()
  await using worker = await startWorker(job, '[ "$SVC_TASK_TITLE" != Long ] || exec sleep 600')
  const task = await readyTask(job, 'Long')
  await worker.said(/^Working/)
  const { active_execution_id } = await job.running.client.call('tasks.get', { task_id: task.id })
  await job.running.client.call('executions.stop', { execution_id: active_execution_id ?? '' })
  await worker.said(/^Stopped by a person/)
  expect(await executionOf(job, task)).toMatchObject({ status: 'stopped' })
  const next = await readyTask(job, 'Short')
  await job.running.taskWhere(next.id, ({ review_passed_at }) => review_passed_at !== null)
})

test('is lost after 90 seconds when it dies', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const time = { now: Date.now() }
    await using job = await startJob({ clock: { now: () => time.now } })
    await using worker = await startWorker(job, 'echo $$; exec sleep 600')
    const task = await readyTask(job, 'Long')
    const group = await worker.said(/^\d+$/)
    worker.worker.kill('SIGKILL')
    await worker.ended
    process.kill(-Number(group), 'SIGKILL')
    // In small steps, because a jump of the clock counts as a sleeping laptop.
    for (let step = 0; step < 7; step++) {
      time.now += 15_000
      vi.advanceTimersByTime(15_000)
    }
    const lost = await job.running.taskWhere(task.id, ({ error_annotation }) => error_annotation !== null)
    expect(lost).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_lost' } })
  } finally {
    vi.useRealTimers()
  }
})

test('reports for a daemon, and stops when the answer says so', async () => {
  await using job = await startJob()
  const { daemon, token } = await job.running.client.call('daemons.create', { name: 'build-1' })
  const env = { SVC_DAEMON_ID: daemon.id, SVC_DAEMON_TOKEN: token }
  await using worker = await startWorker(job, 'exec sleep 600', { env, args: ['--once', '--heartbeat', '1'] })
  const task = await readyTask(job, 'Long')
  await worker.said(/^Working/)
  const execution = await executionOf(job, task)
  // The first report is emitted.
  await job.running.eventually(
    () => job.running.client.call('daemons.list', {}),
    ({ items }) => items.some(({ id, last_seen_at }) => id === daemon.id && last_seen_at !== null),
  )
  await job.running.client.call('executions.stop', { execution_id: execution?.id ?? '' })
  await worker.said(/^Stopped by a person/)
  expect(await worker.ended).toEqual([0, null])
})
