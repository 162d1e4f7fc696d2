import { present } from '../../helpers/present.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { ended, hookRuns, hookRunWhere, script, setHooks } from '../../helpers/lifecycle.ts'

const untilOpen = (gate: string) => `until test -e '${gate}'; do sleep 0.05; done`

/** The file exists before its content. */
const hasBegun = (seen: string) =>
  expect.poll(() => readFile(seen, 'utf8').catch(() => null), { timeout: 100_000 }).toBe('begun\n')

async function restart(job: Job): Promise<void> {
  job.running = await job.running.restart()
}

test('runs an interrupted blocking hook again after a restart, then starts the agent', async () => {
  await using job = await startJob()
  const gate = join(job.running.dataDir, 'gate')
  const seen = join(job.running.dataDir, 'seen.txt')
  await setHooks(job, {
    before_work: [script(`echo begun >> '${seen}'; ${untilOpen(gate)}; cat '${seen}'`, { blocking: true })],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await hasBegun(seen)
  await restart(job)
  expect((await job.running.client.call('tasks.get', { task_id: task.id })).entry_barrier).toBe(true)
  await writeFile(gate, '')
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ status, stdout }) => [status, stdout])).toEqual([['succeeded', 'begun\nbegun\n']])
})

test('keeps a task blocked across a restart, without running its hook again', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('exit 1', { blocking: true })] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'hook_failed')
  await restart(job)
  const held = await job.running.client.call('tasks.get', { task_id: task.id })
  expect([held.entry_barrier, held.error_annotation?.hook]).toEqual([true, 'before_work[0]'])
  const skip = { task_id: task.id, action: 'skip_hook_once', reason: 'known' } as const
  await job.running.client.call('tasks.recover', skip)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(await hookRuns(job, task.id)).toHaveLength(1)
})

test('runs the stop hook at the next start for an agent that the service ended', async () => {
  await using job = await startJob()
  await setHooks(job, { on_work_stop: [script('echo tidied')] })
  const task = await job.task()
  await job.claim(task, await job.agent('sleep 600'))
  await job.running.taskWhere(task.id, (one) => one.active_execution_id !== null && !one.entry_barrier)
  await job.running.eventually(
    () => job.executions(task.id),
    ([one]) => one?.status === 'running',
  )
  await restart(job)
  expect(await hookRunWhere(job, task.id, ended('on_work_stop'))).toMatchObject({ stdout: 'tidied\n' })
  expect(await hookRuns(job, task.id)).toHaveLength(1)
})

test('does not restart hooks of the work once no one works', async () => {
  await using job = await startJob()
  const seen = join(job.running.dataDir, 'seen.txt')
  const hook = script(`echo begun >> '${seen}'; sleep 600`, { timeout_seconds: 600 })
  await setHooks(job, { on_work_start: [hook], on_work_stop: [script(`cat '${seen}'`)] })
  const task = await job.task()
  await job.claim(task, await job.agent('sleep 600'))
  await hasBegun(seen)
  await restart(job)
  const stop = await hookRunWhere(job, task.id, ended('on_work_stop'))
  expect(stop.stdout).toBe('begun\n')
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ event }) => event)).toEqual(['on_work_stop'])
})

test('counts a silent remote agent as stopped', async () => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  await using job = await startJob({ clock: { now: () => now } })
  const { client } = job.running
  await setHooks(job, { on_work_stop: [script('echo tidied')] })
  const agent = await client.call('agents.create', { name: 'Far', executor: 'external', config: {} })
  const task = await job.task()
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await job.running.eventually(
    () => job.executions(task.id),
    ([one]) => one?.status === 'running',
  )
  now += 120_000
  await restart(job)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_lost')
  expect(await hookRunWhere(job, task.id, ended('on_work_stop'))).toMatchObject({ stdout: 'tidied\n' })
})

test('counts a remote agent that moves its own task as stopped, once', async () => {
  await using job = await startJob()
  const { client } = job.running
  await setHooks(job, { on_work_start: [script('true')], on_work_stop: [script('true')] })
  const agent = await client.call('agents.create', { name: 'Far', executor: 'external', config: {} })
  const task = await job.task()
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const entered = await job.running.taskWhere(task.id, (one) => !one.entry_barrier)
  await hookRunWhere(job, task.id, ended('on_work_start'))
  await client.call('tasks.transition', { task_id: task.id, status: 'review', version: entered.version })
  await hookRunWhere(job, task.id, ended('on_work_stop'))
  const { id: execution_id } = present(claimed.execution)
  if ((await client.call('executions.get', { execution_id })).status === 'running') {
    await client.call('executions.finish', { execution_id, status: 'succeeded' })
  }
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ event }) => event)).toEqual(['on_work_start', 'on_work_stop'])
})
