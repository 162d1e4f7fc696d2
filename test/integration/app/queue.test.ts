import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { script, setHooks } from '../../helpers/lifecycle.ts'

const queueOf = (job: Job) => job.running.client.call('projects.queue', { project_id: job.project.id })

/** Who waits, by title, with the reason and the turn. */
const waiting = async (job: Job) =>
  (await queueOf(job)).waiting.map(({ title, reason, position }) => [title, reason, position])

test('agents start oldest first within the slots of the project, and the queue says whose turn comes when', async () => {
  await using job = await startJob()
  await job.settings({ max_concurrent_executions: 1 })
  const gate = join(job.running.dataDir, 'gate')
  const agent = await job.agent(`until test -e '${gate}'; do sleep 0.05; done; echo $SVC_TASK_TITLE > work.txt`)
  const tasks = []
  for (const title of ['First', 'Second', 'Third']) {
    const task = await job.task({ title })
    await job.claim(task, agent)
    tasks.push(task)
  }
  const queue = await job.running.eventually(
    () => queueOf(job),
    (one) => one.running.length === 1 && one.waiting.every(({ reason }) => reason === 'slots_full'),
  )
  expect(queue.limit).toBe(1)
  expect(queue.running).toMatchObject([{ title: 'First', role: 'coder', agent_id: agent.id, quiet_since: null }])
  expect(await waiting(job)).toEqual([
    ['Second', 'slots_full', 1],
    ['Third', 'slots_full', 2],
  ])
  await writeFile(gate, '')
  for (const { id } of tasks) await job.running.taskWhere(id, (one) => one.status === 'review')
  const started = []
  for (const { id } of tasks) started.push((await job.executions(id))[0]?.started_at ?? '')
  expect(started).toEqual(started.toSorted())
  expect(await queueOf(job)).toMatchObject({ running: [], waiting: [] })
})

test('who can not start for another reason takes no turn, and the queue names the reason', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ max_concurrent_executions: 2 })
  await setHooks(job, { before_work: [script('test "$SVC_TASK_TITLE" != Entering', { blocking: true })] })
  const busy = await job.agent('sleep 600', 'Busy')
  const paused = await job.agent('sleep 600', 'Paused')
  const runs = await job.task({ title: 'Running' })
  await job.claim(runs, busy)
  const entering = await job.task({ title: 'Entering' })
  await job.claim(entering, busy)
  await job.running.taskWhere(entering.id, (one) => one.error_annotation !== null)
  const rests = await job.task({ title: 'Resting' })
  await client.call('projects.update', { project_id: job.project.id, paused_at: new Date().toISOString() })
  await client.call('projects.update', { project_id: job.project.id, paused_at: null })
  await job.settings({ max_concurrent_executions: 1 })
  await job.claim(rests, paused)
  await client.call('agents.update', { agent_id: paused.id, paused: true })
  const last = await job.task({ title: 'Last' })
  await job.claim(last, busy)
  await job.running.eventually(
    () => waiting(job),
    (all) => all.every(([title, reason]) => title === 'Entering' || reason !== 'entering'),
  )
  expect(await waiting(job)).toEqual([
    ['Entering', 'entering', null],
    ['Resting', 'agent_paused', null],
    ['Last', 'slots_full', 1],
  ])
  await client.call('projects.update', { project_id: job.project.id, paused_at: new Date().toISOString() })
  expect((await waiting(job)).map(([, reason]) => reason)).toEqual(['entering', 'project_paused', 'project_paused'])
})
