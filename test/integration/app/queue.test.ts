import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { script, setHooks } from '../../helpers/lifecycle.ts'

const queueOf = (job: Job) => job.running.client.call('projects.queue', { project_id: job.project.id })

/** The waiting tasks by title, with reason and position. */
const waiting = async (job: Job) =>
  (await queueOf(job)).waiting.map(({ title, reason, position }) => [title, reason, position])

test('starts agents oldest first within the project’s slots, and lists the queue in order', async () => {
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

test('lets a person reorder the queue, with an event, and keeps the order across a restart', async () => {
  await using job = await startJob()
  await job.settings({ max_concurrent_executions: 1 })
  const gate = join(job.running.dataDir, 'gate')
  const agent = await job.agent(`until test -e '${gate}'; do sleep 0.05; done; echo $SVC_TASK_TITLE > work.txt`)
  const claimed = new Map<string, { task_id: string; execution_id: string }>()
  for (const title of ['First', 'Second', 'Third', 'Fourth']) {
    const task = await job.task({ title })
    const { execution } = await job.claim(task, agent)
    claimed.set(title, { task_id: task.id, execution_id: execution.id })
  }
  const idOf = (title: string) => claimed.get(title)?.execution_id ?? ''
  const titles = async () => (await queueOf(job)).waiting.map(({ title }) => title)
  await job.running.eventually(
    () => queueOf(job),
    (one) => one.running.length === 1 && one.waiting.every(({ reason }) => reason === 'slots_full'),
  )
  const move = (title: string, to: 'first' | 'up' | 'down' | 'last') =>
    job.running.client.call('executions.move_in_queue', { execution_id: idOf(title), to })
  const answer = await move('Fourth', 'first')
  expect(answer.waiting.map(({ title, position }) => [title, position])).toEqual([
    ['Fourth', 1],
    ['Second', 2],
    ['Third', 3],
  ])
  await move('Third', 'up')
  expect(await titles()).toEqual(['Fourth', 'Third', 'Second'])
  await move('Third', 'down')
  await move('Fourth', 'first')
  expect(await refusalOf(move('First', 'up'))).toBe('not_queued')
  const told = []
  const end = await job.task({ title: 'The end of the news' })
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    if (item.event.type === 'queue.updated') told.push(item.event.data.project_id)
    if (item.event.type === 'task.created' && item.event.data.task_id === end.id) break
  }
  // A move without effect emits nothing.
  expect(told).toEqual([job.project.id, job.project.id, job.project.id])
  // A later run waits behind them.
  const late = await job.task({ title: 'Late' })
  await job.claim(late, agent)
  await job.running.eventually(titles, (all) => all.includes('Late'))
  expect(await titles()).toEqual(['Fourth', 'Second', 'Third', 'Late'])
  job.running = await job.running.restart()
  await job.running.eventually(titles, (all) => all.length >= 4)
  const order = (await titles()).filter((title) => title !== 'First')
  expect(order).toEqual(['Fourth', 'Second', 'Third', 'Late'])
  await writeFile(gate, '')
  const started = []
  for (const title of ['Fourth', 'Second', 'Third']) {
    const { task_id, execution_id } = claimed.get(title) ?? { task_id: '', execution_id: '' }
    await job.running.taskWhere(task_id, (one) => one.status === 'review')
    started.push((await job.running.client.call('executions.get', { execution_id })).started_at ?? '')
  }
  expect(started).toEqual(started.toSorted())
})

test('names another reason why a run can’t start, without taking its turn', async () => {
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
