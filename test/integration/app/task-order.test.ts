import { expect, test } from 'vitest'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

/** The titles as a board shows them, from the top. */
async function order({ running, project }: Job): Promise<string> {
  const { items } = await running.client.call('tasks.list', { project_id: project.id })
  return items
    .map(({ title }) => title)
    .toReversed()
    .join('')
}

async function start() {
  const job = await startJob()
  const made = new Map<string, string>()
  for (const title of ['D', 'C', 'B', 'A']) made.set(title, (await job.task({ title })).id)
  const id = (title: string) => made.get(title) ?? ''
  const place = (title: string, where: Partial<OperationInput<'tasks.update'>>) =>
    job.running.client.call('tasks.update', { task_id: id(title), ...where })
  return { job, id, place, [Symbol.asyncDispose]: () => job[Symbol.asyncDispose]() }
}

test.concurrent('puts a task directly above or below another', async () => {
  await using world = await start()
  const { job, id, place } = world
  expect(await order(job)).toBe('ABCD')
  await place('D', { above: id('B') })
  expect(await order(job)).toBe('ADBC')
  await place('A', { below: id('C') })
  expect(await order(job)).toBe('DBCA')
  await place('C', { above: id('D') })
  expect(await order(job)).toBe('CDBA')
  // Its current place.
  await place('C', { above: id('D') })
  expect(await order(job)).toBe('CDBA')
})

test.concurrent('keeps the order however often a place is used, with an event for each moved task', async () => {
  await using world = await start()
  const { job, id, place } = world
  for (let turn = 0; turn < 70; turn++) await place(turn % 2 ? 'A' : 'B', { above: id('C') })
  expect(await order(job)).toBe('BACD')
  const { items } = await job.running.client.call('tasks.list', { project_id: job.project.id })
  expect(new Set(items.map(({ position }) => position)).size).toBe(4)

  const heard = new Map<string, number>()
  const end = await job.task({ title: 'End' })
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    if (type === 'task.created' || type === 'task.updated') heard.set(data.task_id, data.task.position)
    if (type === 'task.created' && data.task_id === end.id) break
  }
  for (const task of items) expect(heard.get(task.id), task.title).toBe(task.position)
})

test.concurrent('accepts one place, beside a task of the same project', async () => {
  await using world = await start()
  const { job, id, place } = world
  const { client } = job.running
  const repo_path = job.project.repos[0]?.path ?? ''
  const other = await client.call('projects.create', { name: 'Other', repo_path })
  const stranger = await client.call('tasks.create', { project_id: other.id, title: 'X' })
  const wrong = [{ above: stranger.id }, { below: id('A') }, { above: id('B'), below: id('C') }] as const
  for (const where of [...wrong, { above: id('B'), position: 1 }]) {
    expect((await refused(place('A', where))).code).toBe('validation_failed')
  }
  expect(await order(job)).toBe('ABCD')
})
