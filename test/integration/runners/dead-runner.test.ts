import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { startDaemonJob } from '../../helpers/daemon-job.ts'
import { startFarJob } from '../../helpers/far-job.ts'
import type { Job } from '../../helpers/job.ts'
import { processesIn } from '../../helpers/processes-in.ts'

// Checks, hooks and the steps of landing whose runner has died end, say why, and can be retried.

const held = async (job: Job, task_id: string) => {
  const { error_annotation } = await job.running.taskWhere(task_id, (task) => task.error_annotation !== null)
  return error_annotation
}

const retry = (job: Job, task_id: string) => job.running.client.call('tasks.recover', { task_id, action: 'retry_hook' })

const reviewed = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (task) => task.review_passed_at !== null && !task.entry_barrier)

const hook = { type: 'script' as const, success_exit_codes: [0], applies_to: 'all' as const }

const work = 'echo work > work.txt; git add -A; git commit -qm Work'

/** A check that lasts for ever where its file isn't there. */
const unless = (file: string) => `[ -e '${file}' ] || { echo begun; sleep 300; }`

const begunCheck = (job: Job, task_id: string, output = '') =>
  job.running.eventually(
    () => job.running.client.call('tasks.reviews', { task_id }),
    ({ items }) =>
      items[0]?.step_results[0]?.exit_code === null && (output === '' || items[0].step_results[0].output_tail !== ''),
  )

test('holds the review whose check was on a runner that died, and passes it when retried', async () => {
  await using far = await startFarJob()
  const { job, folder, door } = far
  const agent = await job.agent(work)
  const task = await job.task({ review_config: { ci_steps: [unless(join(folder, 'free'))] } })
  await job.claim(task, agent)
  await begunCheck(job, task.id)
  const there = join(folder, 'tasks', task.id, 'worktree')
  await expect.poll(() => processesIn([there]), { timeout: 20_000 }).not.toEqual([])
  door.close()
  far.lose('Its machine is gone.')
  expect(await held(job, task.id)).toMatchObject({
    type: 'hook_failed',
    message:
      'Far did not run this to its end. Its machine is gone. Check that runner or choose another one in the project’s settings, then retry.',
    recovery_actions: expect.arrayContaining(['retry_hook']),
  })
  door.open()
  await expect.poll(() => processesIn([there]), { timeout: 20_000 }).toEqual([])
  await writeFile(join(folder, 'free'), '')
  await retry(job, task.id)
  await reviewed(job, task.id)
  // No agent was sent to fix what it can't.
  expect(await job.executions(task.id)).toHaveLength(1)
})

test('says of a hook and of a landing why they did not run on a runner that is gone', async () => {
  await using far = await startFarJob()
  const { job, door, runner_id } = far
  const { client } = job.running
  await job.settings({ runner_ids: ['here' as RunnerId] })
  const agent = await job.agent(work)
  const landed = await job.task()
  await job.claim(landed, agent)
  const { version } = await reviewed(job, landed.id)
  door.close()
  const before_work = [{ ...hook, command: 'true', blocking: true, timeout_seconds: 600 }]
  const landing = { mode: 'serial' as const, steps: ['true'], max_parallel: 1, retry_failed: true }
  await job.settings({ ci_runner: runner_id, lifecycle_hooks: { before_work }, landing })
  await job.repository.commit('theirs', { 'theirs.txt': 'x\n' })
  await client.call('tasks.transition', { task_id: landed.id, status: 'merging', version, respond_async: true })
  const hooked = await job.task()
  await client.call('tasks.claim', { task_id: hooked.id, agent_id: agent.id })
  await job.running.eventually(
    () => client.call('tasks.hook_runs', { task_id: hooked.id }),
    ({ items }) => items[0]?.status === 'running',
  )
  await job.running.eventually(
    () => client.call('landing.list', { project_id: job.project.id }),
    ({ items }) => items[0]?.tasks[0]?.state === 'testing',
  )
  // Until the service knows, both wait; each is on offer once its folder is lent.
  await expect
    .poll(
      async () => {
        far.lose('Its machine is gone.')
        const tasks = await Promise.all([landed, hooked].map(({ id }) => client.call('tasks.get', { task_id: id })))
        return tasks.map(({ error_annotation }) => error_annotation?.message)
      },
      { timeout: 20_000 },
    )
    .toEqual([
      expect.stringContaining('Far did not run this to its end. Its machine is gone.'),
      expect.stringContaining('Far did not run this to its end. Its machine is gone.'),
    ])
})

test('ends the check of a runner that is removed, and runs it here when retried', async () => {
  await using far = await startDaemonJob()
  const { job, home, runner_id } = far
  const { client } = job.running
  const child = far.start()
  await far.isReady()
  await job.settings({ runner_ids: [runner_id] })
  const agent = await job.agent(work)
  const task = await job.task({ review_config: { ci_steps: [unless(join(home, 'free'))] } })
  await job.claim(task, agent)
  await begunCheck(job, task.id)
  await expect.poll(() => processesIn([join(home, 'runner', 'tasks')]), { timeout: 20_000 }).not.toEqual([])
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  for (const { pid } of processesIn([home])) process.kill(pid, 'SIGKILL')
  await job.settings({ runner_ids: ['here' as RunnerId] })
  await client.call('runners.delete', { runner_id })
  expect((await held(job, task.id))?.message).toContain('Desk was removed.')
  await writeFile(join(home, 'free'), '')
  await retry(job, task.id)
  await reviewed(job, task.id)
})
